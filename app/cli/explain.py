"""`gpugate explain`: what a rule or an injection is about, and why a manifest gets its verdict."""

from typing import Final

import click

from app.cli.main import LazyGroup

_SUBJECTS: Final = {
    "file": "why a manifest gets its verdict, step by step",
    "injection": "what an injection adds, and what it leaves alone",
    "rule": "what a rule looks at, why it exists, how to comply",
}


@click.group(
    cls=LazyGroup,
    summaries=_SUBJECTS,
    modules=lambda name: f"app.cli.explain_{name}",
    short_help="Explain a rule, an injection, or the verdict on a file.",
)
def command() -> None:
    """Explain a rule or an injection, or why a manifest gets its verdict.

    \b
    Examples:
      gpugate explain rule no-privileged
      gpugate explain injection nodeSelector
      gpugate explain file --policy shipped trainer.yaml
    """
