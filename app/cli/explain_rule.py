"""`gpugate explain rule`."""

from collections.abc import Iterator
from dataclasses import asdict

import click
import orjson

from app.admission.review import printable
from app.cli.options import find_policy, load_policy, policy_option
from app.cli.rules_page import for_terminal, sections
from app.policy.compiled import BoundRule, Policy
from app.rules.registry import RULES
from app.suite.reach import conditions


def rule_ids(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """The rules that a shell can complete a word to."""
    return [rule for rule in RULES if rule.startswith(incomplete)]


@click.command("rule", short_help="What a rule looks at, why it exists, how to comply.")
@click.argument("rule", metavar="RULE", shell_complete=rule_ids)
@policy_option
def command(rule: str, policy_path: str | None) -> None:
    """Explain a rule: what it looks at, why it exists, how to comply, its parameters and an example, and how the policy
    uses it, if there is one. RULE is the rule's id, or its name in the policy.

    \b
    Examples:
      gpugate explain rule limits-equal-requests
      gpugate explain rule --policy shipped runtime-class
    """
    policy = optional_policy(policy_path)
    bound = [each for each in (policy.rules if policy else ()) if rule in (each.name, each.rule.id)]
    names = dict.fromkeys([*RULES, *(each.name for each in (policy.rules if policy else ()))])
    if rule not in names:
        raise click.UsageError(f"there is no rule {rule!r}; {nearest(rule, list(names))}")
    found = bound[0].rule if rule not in RULES else RULES[rule]
    click.echo(f"{click.style(found.id, bold=True)}\n\n{for_terminal(sections()[found.id])}")
    if policy is not None:
        click.echo("\n" + "\n".join(_used(policy, bound)))


def optional_policy(path: str | None) -> Policy | None:
    """The policy that is named or stands where others look for it; None if there is none."""
    if path is None:
        try:
            find_policy(None)
        except click.UsageError:
            return None
    return load_policy(path)


def nearest(name: str, known: list[str]) -> str:
    """What may have been meant."""
    from difflib import get_close_matches

    close = get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"


def _used(policy: Policy, bound: list[BoundRule]) -> Iterator[str]:
    if not bound:
        yield f"The policy {', '.join(each.name for each in policy.documents)} does not use it."
    for each in bound:
        yield f"In the policy: {each.policy}/{each.name}"
        yield f"  action: {each.action}{', repair: true' if each.repair else ''}"
        yield from (f"  match.{condition}" for condition in conditions(each.match))
        parameters = {
            key: value for key, value in asdict(each.parameters).items() if value not in (None, (), {}, False)
        }
        if parameters:
            yield f"  with: {orjson.dumps(parameters).decode()}"
        if each.help:
            yield f"  help: {each.help}"
        yield from exceptions(policy, each.name)


def exceptions(policy: Policy, name: str) -> Iterator[str]:
    """The exceptions from a rule or injection of the policy."""
    for exception in policy.exceptions:
        if name in exception.rules:
            said = f"{exception.name}, until {exception.expires} ({exception.reason}, {exception.owner})"
            yield f"  exception: {printable(said)}"
