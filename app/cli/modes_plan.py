"""`gpugate modes plan`."""

from typing import Final

import click

from app.cli.looking import connect, look, read_snapshot
from app.cli.options import cluster_options, load_policy, policy_option
from app.cli.table import table
from app.model.words import counted
from app.report.rollout import Tally, by_breakage, standings, tally
from app.report.snapshot import NamespaceState, Snapshot

_HEADING: Final = ("NAMESPACE", "MODE", "NEXT", "GPU", "REFUSED", "CHANGED", "WARNED", "FIRST TO MEND")


@click.command("plan", short_help="Which namespaces to promote first.")
@policy_option
@cluster_options
@click.option("--snapshot", "file", metavar="FILE", help="Of a snapshot that a scan left, instead of a cluster.")
def command(policy_path: str | None, context: str | None, kubeconfig: str | None, file: str | None) -> int:
    """List the namespaces that a label can promote, those first in which enforce would break least, with what to mend
    first where it would break something. Exits 2 if something could not be read.

    \b
    Examples:
      gpugate modes plan --policy gpugate.yaml
      gpugate modes plan --snapshot prod.json
    """
    snapshot = read_snapshot(file) if file is not None else look(connect(context, kubeconfig), load_policy(policy_path))
    states = by_breakage(snapshot.namespaces)
    tallies = {state.name: tally(state) for state in states}
    if states:
        click.echo(table(_HEADING, [_row(state, tallies[state.name]) for state in states]))
    ready = sum(not each.refused for each in tallies.values())
    click.echo(f"{counted(len(states), 'namespace')} to promote, {ready} of them ready for enforce{_others(snapshot)}.")
    return 2 if snapshot.errors else 0


def _row(state: NamespaceState, count: Tally) -> list[str]:
    numbers = [str(each) for each in (count.gpu, count.refused, count.changed, count.warned)]
    return [state.name, state.mode, state.next or "-", *numbers, _first_to_mend(state)]


def _first_to_mend(state: NamespaceState) -> str:
    """The refusals of the object with most pods, by its rules; nothing where none is refused."""
    refused = [each for each in standings(state) if each.state == "refused" and not each.exempt]
    if not refused:
        return "-"
    first = max(refused, key=lambda each: each.pods)
    rules = dict.fromkeys(said.partition(":")[0] for said in first.said("deny"))
    return f"{first.title}: {', '.join(rules)}"


def _others(snapshot: Snapshot) -> str:
    pinned = sum(state.source == "pinned" for state in snapshot.namespaces)
    exempt = sum(state.exempt for state in snapshot.namespaces if state.source != "pinned")
    top = sum(state.next is None and not state.exempt and state.source != "pinned" for state in snapshot.namespaces)
    parts = ((top, "at the top"), (pinned, "pinned by the policy"), (exempt, "exempt"))
    said = ", ".join(f"{count} {what}" for count, what in parts if count)
    return f"; {said}" if said else ""
