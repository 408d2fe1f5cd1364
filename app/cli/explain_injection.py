"""`gpugate explain injection`."""

from collections.abc import Iterator

import click

from app.cli.explain_rule import exceptions, nearest, optional_policy
from app.cli.options import policy_option
from app.cli.rules_page import for_terminal, sections
from app.inject.injection import Injection
from app.policy.compiled import BoundInjection, Policy
from app.rules.registry import RULES
from app.suite.reach import conditions


@click.command("injection", short_help="What an injection adds, and what it leaves alone.")
@click.argument("injection", metavar="INJECTION")
@policy_option
def command(injection: str, policy_path: str | None) -> None:
    """Explain an injection: what it adds, what it leaves alone, with an example. INJECTION is one of taints,
    tolerations, nodeSelector and hideGpus, or the name of an injection in the policy.

    \b
    Examples:
      gpugate explain injection nodeSelector
      gpugate explain injection --policy shipped gpu-nodes
    """
    policy = optional_policy(policy_path)
    page = {name: text for name, text in sections().items() if name not in RULES}
    bound = {each.name: each for each in (policy.injections if policy else ())}
    if injection not in page and injection not in bound:
        raise click.UsageError(f"there is no injection {injection!r}; {nearest(injection, [*page, *bound])}")
    kinds = [injection] if injection in page else [kind for kind, _ in _kinds(bound[injection].injection)]
    for kind in kinds:
        click.echo(f"{click.style(kind, bold=True)}\n\n{for_terminal(page[kind])}\n")
    if policy is not None:
        click.echo("\n".join(_used(policy, injection)))


def _kinds(injection: Injection) -> Iterator[tuple[str, str]]:
    """What an injection adds: the kind of change, and the entries."""
    if injection.taints:
        yield "taints", ", ".join(map(str, injection.taints))
    if injection.tolerations:
        tolerations = (" ".join(f"{key}={value}" for key, value in each.items()) for each in injection.tolerations)
        yield "tolerations", ", ".join(tolerations)
    if injection.node_selector:
        selector = ", ".join(f"{key}={value}" for key, value in injection.node_selector)
        yield "nodeSelector", f"{selector} (onConflict: {injection.on_conflict})"
    if injection.hide_gpus:
        yield "hideGpus", "true"


def _used(policy: Policy, name: str) -> Iterator[str]:
    used: list[BoundInjection] = [
        each for each in policy.injections if name == each.name or name in dict(_kinds(each.injection))
    ]
    if not used:
        yield f"The policy {', '.join(each.name for each in policy.documents)} does not use it."
    for each in used:
        yield f"In the policy: {each.policy}/{each.name}"
        yield from (f"  {kind}: {entries}" for kind, entries in _kinds(each.injection))
        yield from (f"  match.{condition}" for condition in conditions(each.match))
        yield from exceptions(policy, each.name)
