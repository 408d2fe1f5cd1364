"""The board's buttons: what `gpugate modes promote` and `demote` do, by the same functions."""

from collections.abc import Sequence
from typing import Final

import click

from app.cli.board_snapshots import ClusterSnapshots, in_a_line
from app.cli.modes_demote import present, weaker
from app.cli.modes_promote import Plan, choose, plan
from app.model.words import counted
from app.policy.compiled import Mode
from app.report.board.pages import Promotion
from app.report.rollout import LADDER, consequences
from app.report.snapshot import NamespaceState
from app.report.survey import neighbour
from app.server.board.changes import ChangeRefused

_NAMED: Final = 3
"""Workloads that a refusal names; the page has all of them."""


class ClusterChanges:
    """Changes the modes of the cluster that the snapshots are of, by the policy as it is then."""

    def __init__(self, source: ClusterSnapshots) -> None:
        self._source = source

    def offers(self, namespace: NamespaceState) -> Sequence[Promotion]:
        """One step up and one down, where the namespace's label may choose them."""
        if namespace.source == "pinned" or namespace.exempt:
            return ()
        try:
            down = neighbour(self._source.policy().modes, namespace.mode, -1)
        except click.ClickException:
            return ()  # without a policy nothing can be promised; the page says why the scan failed
        offers = []
        if namespace.next is not None:
            refused = len(consequences(namespace, namespace.next, None).refused)
            objection = f"{counted(refused, 'workload')} would break" if refused else None
            offers.append(Promotion(namespace.next, objection, stricter=True))
        if down is not None:
            offers.append(Promotion(down, None, stricter=False))
        return offers

    def change(self, namespace: str, to: Mode, *, force: bool) -> str:
        """Promote or demote, from whatever mode it is in now; what was done. Raises ChangeRefused."""
        try:
            policy, cluster = self._source.policy(), self._source.cluster()
            state = present(policy, cluster, namespace)
            if LADDER.index(to) < LADDER.index(state.mode):
                weaker(policy, state, to)
            else:
                planned = plan(policy, cluster, namespace, to)
                if planned.why_not and not force:
                    raise ChangeRefused(_refusal(planned), can_be_forced=True)
            choose(cluster, namespace, to)
        except click.ClickException as error:
            raise ChangeRefused(in_a_line(error)) from error
        return f"{namespace} was in {state.mode}, and is in {to} now."


def _refusal(planned: Plan) -> str:
    state, found = planned.state, planned.found
    stuck = [each for each, _ in found.stuck]
    said = [
        f"{counted(len(those), 'workload')} would {what} ({_names([each.title for each in those])})"
        for those, what in ((found.refused, "be refused"), (stuck, "wait for a node that there is not"))
        if those
    ]
    return f"{state.name} stays in {state.mode}: {'; '.join(said) or planned.why_not}."


def _names(titles: list[str]) -> str:
    more = len(titles) - _NAMED
    return ", ".join(titles[:_NAMED]) + (f" and {more} more" if more > 0 else "")
