"""`gpugate modes demote`."""

from typing import get_args

import click

from app.cli.looking import connect
from app.cli.modes_promote import choose, refuse_if_fixed, refuse_unless_chosen_by_label
from app.cli.options import cluster_options, load_policy, policy_option
from app.cluster.client import Cluster
from app.cluster.errors import ClusterError
from app.cluster.modes import label_of, labelled
from app.documents.dump import dump
from app.policy.compiled import MODE_LABEL, Mode, Policy
from app.report.rollout import LADDER
from app.report.snapshot import NamespaceState
from app.report.survey import namespace_state, neighbour


@click.command("demote", short_help="Choose a weaker mode for a namespace.")
@click.argument("namespace", metavar="NS")
@policy_option
@cluster_options
@click.option("--to", "target", type=click.Choice(get_args(Mode)), help="The mode.  [default: the next weaker one]")
@click.option(
    "-o", "--output", type=click.Choice(["yaml"]), help="yaml: print the change as an object, and change nothing."
)
def command(
    namespace: str,
    policy_path: str | None,
    context: str | None,
    kubeconfig: str | None,
    target: Mode | None,
    output: str | None,
) -> None:
    """Choose a weaker mode for a namespace by its label gpugate.dev/mode, at once: nothing is looked at before. What
    was refused is let through from then on; what was changed stays as it is.

    \b
    Examples:
      gpugate modes demote team-a --policy gpugate.yaml
      gpugate modes demote team-a --policy gpugate.yaml --to audit
    """
    policy, cluster = load_policy(policy_path), connect(context, kubeconfig)
    state = present(policy, cluster, namespace)
    mode = weaker(policy, state, target)
    if output is not None:
        click.echo(dump(labelled(namespace, mode)), nl=False)
        return
    choose(cluster, namespace, mode)
    click.echo(f"namespace {namespace}: {state.mode} -> {mode} (label {MODE_LABEL}={mode})")


def present(policy: Policy, cluster: Cluster, namespace: str) -> NamespaceState:
    """The namespace and its mode, without its workloads; raises click.ClickException."""
    try:
        return namespace_state(policy, namespace, label_of(cluster, namespace))
    except ClusterError as error:
        raise click.ClickException(str(error)) from error


def weaker(policy: Policy, state: NamespaceState, target: Mode | None) -> Mode:
    """The mode to demote to; raises click.ClickException where the label cannot choose it, or it is not weaker."""
    refuse_if_fixed(state)
    chosen = neighbour(policy.modes, state.mode, -1) if target is None else target
    if chosen is None:
        raise click.ClickException(
            f"namespace {state.name} is in {state.mode}, and the policy has no weaker mode for labels "
            f"({', '.join(policy.modes.labels)})"
        )
    refuse_unless_chosen_by_label(policy, chosen)
    if LADDER.index(chosen) >= LADDER.index(state.mode):
        raise click.ClickException(
            f"namespace {state.name} is in {state.mode}, and {chosen} is not weaker; see gpugate modes promote"
        )
    return chosen
