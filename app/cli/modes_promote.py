"""`gpugate modes promote`."""

from collections.abc import Iterator
from typing import Final, NamedTuple, get_args

import click

from app.admission.review import printable
from app.cli.looking import connect, look
from app.cli.options import cluster_options, load_policy, policy_option
from app.cluster.client import Cluster
from app.cluster.errors import ClusterError
from app.cluster.modes import labelled, node_labels, set_label
from app.documents.dump import dump
from app.model.words import counted
from app.policy.compiled import MODE_LABEL, Mode, Policy
from app.report.rollout import LADDER, Consequences, Selector, Standing, consequences
from app.report.snapshot import NamespaceState

_NOT_DONE: Final = 1
_SHOWN: Final = 20
"""Workloads of one kind of consequence; how many more there are is said."""


@click.command("promote", short_help="Choose a stricter mode for a namespace, if nothing breaks.")
@click.argument("namespace", metavar="NS")
@policy_option
@cluster_options
@click.option("--to", "target", type=click.Choice(get_args(Mode)), help="The mode.  [default: the next stricter one]")
@click.option("--force", is_flag=True, help="Even if something breaks, or not everything could be read.")
@click.option("--dry-run", is_flag=True, help="Only say what would break and change.")
@click.option(
    "-o", "--output", type=click.Choice(["yaml"]), help="yaml: print the change as an object, and change nothing."
)
def command(
    namespace: str,
    policy_path: str | None,
    context: str | None,
    kubeconfig: str | None,
    target: Mode | None,
    force: bool,
    dry_run: bool,
    output: str | None,
) -> int:
    """Choose a stricter mode for a namespace by its label gpugate.dev/mode, after saying what that breaks and changes.
    Exits 1 and leaves the mode as it is if pods would be refused, or would get a node selector that no node answers to;
    2 if something could not be read.

    \b
    Examples:
      gpugate modes promote team-a --policy gpugate.yaml
      gpugate modes promote team-a --policy gpugate.yaml --to enforce --dry-run
      gpugate modes promote team-a --policy gpugate.yaml -o yaml > namespaces/team-a.yaml
    """
    policy, cluster = load_policy(policy_path), connect(context, kubeconfig)
    state, mode, found, why_not = plan(policy, cluster, namespace, target)
    for line in _said(state, mode, found):
        click.echo(printable(line), err=output is not None)
    if why_not and not force and not dry_run:
        click.echo(f"Not promoted: {why_not}. Mend that first, or --force.", err=True)
        return _NOT_DONE if found.breaks else 2
    if output is not None:
        click.echo(dump(labelled(namespace, mode)), nl=False)
    elif not dry_run:
        choose(cluster, namespace, mode)
        click.echo(f"namespace {namespace} is in {mode} now (label {MODE_LABEL}={mode})")
    return _NOT_DONE if found.breaks and not force else 0


class Plan(NamedTuple):
    """A promotion before it is done: the namespace, its new mode, what that does, and a reason not to, or None."""

    state: NamespaceState
    mode: Mode
    found: Consequences
    why_not: str | None


def plan(policy: Policy, cluster: Cluster, namespace: str, target: Mode | None) -> Plan:
    """Look at the namespace for a promotion; raises click.ClickException where there is none."""
    snapshot = look(cluster, policy, namespace)
    if not snapshot.namespaces:
        raise click.ClickException(f"namespace {namespace} is being deleted")
    (state,) = snapshot.namespaces
    mode = stricter(policy, state, target)
    found = consequences(state, mode, _nodes(cluster) if LADDER.index(mode) >= LADDER.index("assist") else None)
    unread = "not everything could be read" if snapshot.errors else None
    return Plan(state, mode, found, "this breaks workloads" if found.breaks else unread)


def stricter(policy: Policy, state: NamespaceState, target: Mode | None) -> Mode:
    """The mode to promote to; raises click.ClickException where the label cannot choose it, or it is not stricter."""
    refuse_if_fixed(state)
    if target is None:
        if state.next is None:
            raise click.ClickException(
                f"namespace {state.name} is in {state.mode}, and the policy has no stricter mode for labels "
                f"({', '.join(policy.modes.labels)})"
            )
        return state.next
    refuse_unless_chosen_by_label(policy, target)
    if LADDER.index(target) <= LADDER.index(state.mode):
        raise click.ClickException(
            f"namespace {state.name} is in {state.mode}, and {target} is not stricter; see gpugate modes demote"
        )
    return target


def refuse_if_fixed(state: NamespaceState) -> None:
    """Raise click.ClickException if the namespace's label decides nothing."""
    if state.source == "pinned":
        raise click.ClickException(
            f"the policy pins namespace {state.name} to {state.mode}: its label decides nothing. Change "
            "modes.namespaces in the policy file"
        )
    if state.exempt:
        raise click.ClickException(
            f"the policy exempts namespace {state.name}: no mode does anything there. Change exempt.namespaces in the "
            "policy file"
        )


def refuse_unless_chosen_by_label(policy: Policy, mode: Mode) -> None:
    """Raise click.ClickException if the policy does not let labels choose the mode."""
    if mode not in policy.modes.labels:
        allowed = ", ".join(policy.modes.labels) or "none"
        raise click.ClickException(f"the policy does not let labels choose {mode}, only: {allowed} (modes.labels)")


def choose(cluster: Cluster, namespace: str, mode: Mode) -> None:
    """Set the label; raises click.ClickException."""
    try:
        set_label(cluster, namespace, mode)
    except ClusterError as error:
        raise click.ClickException(str(error)) from error


def _nodes(cluster: Cluster) -> list[dict[str, str]] | None:
    try:
        return node_labels(cluster)
    except ClusterError as error:
        click.echo(
            f"Note: whether a node answers to the node selectors is not known: {printable(str(error))}", err=True
        )
        return None


def _said(state: NamespaceState, mode: Mode, found: Consequences) -> Iterator[str]:
    yield f"namespace {state.name}: {state.mode} -> {mode}"
    if not (found.breaks or found.changed or found.warned):
        yield "  nothing that is there breaks or changes"
    yield from _list("would be refused", [(each, each.said("deny")) for each in found.refused])
    yield from _list(
        "would wait for ever",
        [
            (each, [f"no node has the labels that it gets as its nodeSelector: {_selector(selector)}"])
            for each, selector in found.stuck
        ],
    )
    yield from _list("would be changed", [(each, each.said("repair", "inject")) for each in found.changed])
    yield from _list("would be warned about", [(each, each.said(*found.spoken)) for each in found.warned])
    if found.breaks:
        yield "  Pods that run go on running: this is about the next ones."


def _list(what: str, entries: list[tuple[Standing, list[str]]]) -> Iterator[str]:
    if entries:
        yield f"  {what}: {counted(len(entries), 'workload')}"
    for standing, reasons in entries[:_SHOWN]:
        yield f"    {standing.title} ({counted(standing.pods, 'pod')})"
        yield from (f"      {reason}" for reason in dict.fromkeys(reasons))
    if len(entries) > _SHOWN:
        yield f"    and {len(entries) - _SHOWN} more; gpugate scan -n lists all"


def _selector(selector: Selector) -> str:
    return ", ".join(f"{key}={value}" for key, value in selector.items())
