"""`gpugate modes`: the rollout, namespace by namespace."""

from typing import Final

import click

from app.cli.main import LazyGroup

_COMMANDS: Final = {
    "demote": "choose a weaker mode for a namespace",
    "plan": "which namespaces to promote first",
    "promote": "choose a stricter mode for a namespace, if nothing breaks",
    "status": "the mode of each namespace, and what enforce would do there",
}


@click.group(
    cls=LazyGroup,
    summaries=_COMMANDS,
    modules=lambda name: f"app.cli.modes_{name}",
    short_help="Roll out, namespace by namespace.",
)
def command() -> None:
    """Roll out, namespace by namespace: audit records, warn tells users too, assist repairs and injects, enforce
    refuses. The label gpugate.dev/mode of a namespace chooses its mode, unless the policy pins it.

    \b
    Examples:
      gpugate modes status --policy gpugate.yaml
      gpugate modes plan --policy gpugate.yaml
      gpugate modes promote team-a --policy gpugate.yaml
      gpugate modes demote team-a --policy gpugate.yaml
    """
