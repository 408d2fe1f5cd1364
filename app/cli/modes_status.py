"""`gpugate modes status`."""

from collections.abc import Iterator
from datetime import date
from typing import Any, Final

import click
import orjson

from app.cli.looking import connect, look, read_snapshot
from app.cli.options import cluster_options, load_policy, policy_option
from app.cli.table import table
from app.model.words import counted, quoted
from app.report.rollout import Tally, ending, tally
from app.report.snapshot import ExceptionInForce, NamespaceState, Snapshot

VERSION: Final = 1
_HEADING: Final = ("NAMESPACE", "MODE", "FROM", "NEXT", "GPU", "REFUSED", "CHANGED", "WARNED", "EXEMPT", "NOTES")


@click.command("status", short_help="The mode of each namespace, and what enforce would do there.")
@click.argument("namespaces", metavar="[NS]...", nargs=-1)
@policy_option
@cluster_options
@click.option("--snapshot", "file", metavar="FILE", help="Of a snapshot that a scan left, instead of a cluster.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    namespaces: tuple[str, ...],
    policy_path: str | None,
    context: str | None,
    kubeconfig: str | None,
    file: str | None,
    output: str,
) -> int:
    """Show the mode of each namespace, or of those that are named, and where it comes from; how many workloads there
    ask for GPUs; and what enforce would do to them. Exits 2 if something could not be read.

    \b
    Examples:
      gpugate modes status --policy gpugate.yaml
      gpugate modes status --policy gpugate.yaml team-a team-b
      gpugate modes status --snapshot prod.json -o json
    """
    if file is not None:
        snapshot = read_snapshot(file)
    else:
        policy = load_policy(policy_path)
        snapshot = look(connect(context, kubeconfig), policy, *namespaces)
    states = _chosen(snapshot, namespaces)
    today = snapshot.taken_at.date()
    if output == "json":
        click.echo(_json(snapshot, states, today), nl=False)
    else:
        click.echo(_text(states, today), nl=False)
    return 2 if snapshot.errors else 0


def _chosen(snapshot: Snapshot, names: tuple[str, ...]) -> list[NamespaceState]:
    by_name = {state.name: state for state in snapshot.namespaces}
    missing = [name for name in names if name not in by_name]
    if missing:
        raise click.ClickException(f"there is no namespace {', '.join(map(quoted, missing))}")
    return [by_name[name] for name in dict.fromkeys(names or by_name)]


def _text(states: list[NamespaceState], today: date) -> str:
    counts = [tally(state) for state in states]
    rows = [_row(state, count, today) for state, count in zip(states, counts, strict=True)]
    gpu, refused = sum(count.gpu for count in counts), sum(count.refused for count in counts)
    sums = f"{counted(len(states), 'namespace')}, {counted(gpu, 'GPU workload')}"
    would = f"enforce would refuse {refused}" if refused else "enforce would refuse none"
    return f"{table(_HEADING, rows)}\n{sums}: {would}.\n"


def _row(state: NamespaceState, count: Tally, today: date) -> list[str]:
    numbers = [str(each) for each in (count.gpu, count.refused, count.changed, count.warned, count.exempt)]
    return [state.name, state.mode, state.source, state.next or "-", *numbers, "; ".join(_notes(state, today))]


def _notes(state: NamespaceState, today: date) -> Iterator[str]:
    if state.exempt:
        yield "exempt by the policy"
    if not state.label_valid:
        yield f"its label {quoted(state.label or '')} means nothing"
    elif state.source == "pinned" and state.label is not None and state.label != state.mode:
        yield f"its label {quoted(state.label)} counts for nothing: the policy pins the mode"
    for exception in ending(state, today):
        yield f"exception {exception.name} for {exception.rule} ends {exception.until}"


def _json(snapshot: Snapshot, states: list[NamespaceState], today: date) -> str:
    content = {
        "version": VERSION,
        "namespaces": [_namespace(state, today) for state in states],
        "errors": [{"where": each.where, "message": each.message} for each in snapshot.errors],
    }
    return orjson.dumps(content, option=orjson.OPT_INDENT_2).decode() + "\n"


def _namespace(state: NamespaceState, today: date) -> dict[str, Any]:
    return {
        "name": state.name,
        "mode": state.mode,
        "source": state.source,
        "label": state.label,
        "labelValid": state.label_valid,
        "next": state.next,
        "exempt": state.exempt,
        "workloads": tally(state)._asdict(),
        "exceptionsEnding": [_exception(each) for each in ending(state, today)],
    }


def _exception(each: ExceptionInForce) -> dict[str, Any]:
    return {
        "name": each.name,
        "rule": each.rule,
        "until": each.until,
        "owner": each.owner,
        "reason": each.reason,
    }
