"""What the cases of a run exercise of each policy: every rule, injection and exception, by outcome.

``holds`` counts the pods that a rule looked at and found nothing in (an injection: had nothing to add to). A rule that
only ever refused in its tests might refuse everything.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from app.admission.exceptions import excepted
from app.engine import decide
from app.model.gpu import gpu_use
from app.policy.compiled import BoundInjection, BoundRule, Policy
from app.suite.judged import Judged, JudgedPod
from app.suite.reach import class_after, out_of_reach

HOLDS: Final = "holds"
LET_THROUGH: Final = "lets through"


@dataclass(frozen=True, slots=True)
class Row:
    """A rule, injection or exception: how often each of its outcomes was seen, those that never were included."""

    policy: str
    kind: str
    name: str
    outcomes: dict[str, int]

    @property
    def missed(self) -> list[str]:
        """The outcomes that no case showed."""
        return [outcome for outcome, count in self.outcomes.items() if not count]


class Coverage:
    """Counts over one run."""

    def __init__(self) -> None:
        self._policies: dict[str, Policy] = {}
        self._seen: dict[str, Counter[tuple[str, str]]] = {}

    def add(self, judged: Judged) -> None:
        """Count a verdict."""
        seen = self._of(judged.policy)
        if judged.mode == "disabled":
            return
        for each in judged.pods:
            if each.exempt is None and not each.pod.mirror:
                self._pod(judged, each, seen)

    def policy(self, policy: Policy) -> None:
        """Count a policy, even if none of its cases could be run."""
        self._of(policy)

    def rows(self) -> list[Row]:
        """Everything that the policies of the run say."""
        return [row for digest, policy in self._policies.items() for row in _rows(policy, self._seen[digest])]

    def _of(self, policy: Policy) -> Counter[tuple[str, str]]:
        self._policies.setdefault(policy.digest, policy)
        return self._seen.setdefault(policy.digest, Counter())

    def _pod(self, judged: Judged, each: JudgedPod, seen: Counter[tuple[str, str]]) -> None:
        policy, pod, context = judged.policy, each.pod, each.context
        use = gpu_use(pod, policy.gpus, context)
        found = {finding.rule for finding in each.findings}
        seen.update({(finding.rule, finding.outcome) for finding in each.findings})
        runtime_class = class_after(pod, each.findings)
        bounds: list[BoundRule | BoundInjection] = [*policy.rules, *policy.injections]
        for bound in bounds:
            if (
                not judged.update
                and bound.name not in found
                and out_of_reach(bound, pod, use, context, runtime_class) is None
            ):
                seen[bound.name, HOLDS] += 1
        if policy.exceptions:
            findings = decide(policy, pod, context).findings
            for exception in policy.exceptions:
                alone = replace(policy, exceptions=(exception,))
                if excepted(alone, findings, pod, use, context) != findings:
                    seen[exception.name, LET_THROUGH] += 1


def share(rows: list[Row]) -> float:
    """How much of what the policies can answer was seen, in percent; 100 where there is nothing."""
    outcomes = [count for row in rows for count in row.outcomes.values()]
    return 100 * sum(count > 0 for count in outcomes) / len(outcomes) if outcomes else 100.0


def _rows(policy: Policy, seen: Counter[tuple[str, str]]) -> Iterator[Row]:
    for rule in policy.rules:
        wanted = [rule.action, *(["repair"] if rule.repair else []), HOLDS]
        yield Row(rule.policy, "rule", rule.name, _counts(rule.name, wanted, seen))
    for bound in policy.injections:
        injection = bound.injection
        conflicts = injection.node_selector and injection.on_conflict == "refuse"
        wanted = ["inject", *(["deny"] if conflicts else []), HOLDS]
        yield Row(bound.policy, "injection", bound.name, _counts(bound.name, wanted, seen))
    for exception in policy.exceptions:
        counts = {LET_THROUGH: seen[exception.name, LET_THROUGH]}
        yield Row(exception.policy, "exception", exception.name, counts)


def _counts(name: str, wanted: list[str], seen: Counter[tuple[str, str]]) -> dict[str, int]:
    """The outcomes that can be, and those that were seen beside them."""
    others = sorted(outcome for rule, outcome in seen if rule == name and outcome not in wanted)
    return {outcome: seen[name, outcome] for outcome in (*wanted, *others) if outcome != LET_THROUGH}
