"""What a policy would have answered to pods that were recorded, and what is different about two answers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final, Literal, NamedTuple

import orjson

from app.admission.judge import Verdict, judge, judge_update
from app.admission.recorded import ADMITTED, UNREADABLE, Answered, Pod, Said
from app.admission.undo import without
from app.admission.webhook import review
from app.model.context import ClusterFacts, Context
from app.model.finding import Finding
from app.model.patch import Operation, escape
from app.model.pod import MalformedPod
from app.model.pod import Pod as View
from app.policy.compiled import Mode, Modes, Policy

Change = Literal[
    "newly-refused",
    "no-longer-refused",
    "refused-differently",
    "newly-changed",
    "no-longer-changed",
    "changed-differently",
    "newly-warned",
    "no-longer-warned",
]
"""What can be different. Warnings are those, and the violations, of pods that both let in."""

_CHANGES: Final = ("repair", "inject")
_WARNED: Final = ("deny", "warn")


class Difference(NamedTuple):
    """One thing that is different about a pod, by the rule that makes it so ("" if the recording does not tell)."""

    change: Change
    rule: str
    message: str


@dataclass(frozen=True, slots=True)
class Judge:
    """Answers for a policy. Without ``mode`` each pod is judged in its own, without ``today`` on its own day."""

    policy: Policy
    facts: ClusterFacts
    mode: Mode | None = None
    today: date | None = None

    def mode_of(self, pod: Pod) -> Mode:
        """The mode that the pod is judged in: a pinned namespace's, else the recorded one, else the default."""
        modes = self.policy.modes
        return self.mode or modes.namespaces.get(pod.sent.namespace) or pod.mode or modes.default

    def answer(self, pod: Pod, now: date) -> Answered:
        """What the pod would be answered. ``now`` is the day for pods that have none."""
        mode = self.mode_of(pod)
        today = self.today or (pod.when.date() if pod.when else now)
        context = Context(pod.sent.namespace, today, self.facts)
        try:
            return _answer(self.policy, pod, context, mode)
        except MalformedPod as error:
            return Answered(mode == "enforce", (Said(UNREADABLE, "deny", str(error)),))


def _answer(policy: Policy, pod: Pod, context: Context, mode: Mode) -> Answered:
    assert pod.sent.object is not None
    view = View.of(pod.sent.object)
    if pod.sent.operation == "UPDATE":
        return _whole(judge_update(policy, view, pod.sent.old_object, context, mode))
    first = judge(policy, view, context, mode)
    if pod.whole or (pod.final is None and pod.answered is not None and pod.answered.refused):
        return _whole(first)
    # What the mutating call says, and refuses for.
    spoken = [each for each in first.findings if each.early or each.final or each.outcome in _CHANGES]
    if mode == "enforce" and any(each.final and each.outcome == "deny" for each in spoken):
        return _whole(first)
    if pod.final is not None and not first.exempt and mode != "disabled":
        spoken = [each for each in spoken if not each.final] + _validated(policy, pod, first, context, mode)
    refused = mode == "enforce" and any(each.outcome == "deny" for each in spoken)
    return Answered(refused, tuple(map(_said, spoken)), first.patch)


def _validated(policy: Policy, pod: Pod, first: Verdict, context: Context, mode: Mode) -> list[Finding]:
    """What the validating call says of the pod as it became."""
    assert pod.final is not None
    assert pod.final.object is not None
    if pod.patch is not None and effects(first.patch) == effects(pod.patch):
        # The policy would have made the pod that was recorded, so this is the call itself.
        unpinned = replace(policy, modes=Modes())
        return review(unpinned, "validate", mode, pod.final, context).findings
    # It would have made another pod: not what the policy of that time added, but what this one does.
    made = without(pod.final.object, pod.patch or (), pod.sent.object or {})
    second = judge(policy, View.of(made), context, mode)
    return [each for each in second.findings if not each.early and each.outcome not in _CHANGES]


def _whole(verdict: Verdict) -> Answered:
    return Answered(not verdict.allowed, tuple(map(_said, verdict.findings)), verdict.patch if verdict.allowed else ())


def _said(finding: Finding) -> Said:
    return Said(f"{finding.policy}/{finding.rule}", finding.outcome, finding.message, finding.operations)


def differences(old: Answered | None, new: Answered) -> Iterator[Difference]:
    """What is different about the new answer. Nothing known of the old one: the pod was let in as it was."""
    old = old or ADMITTED
    if old.refused and new.refused:
        if any(each.outcome == "deny" for each in old.said):  # else nobody knows by which rules
            yield from _rules("refused-differently", old, new, ("deny",))
            yield from _rules("refused-differently", new, old, ("deny",))
    elif new.refused:
        yield from _rules("newly-refused", ADMITTED, new, ("deny",))
    elif old.refused:
        yield from list(_rules("no-longer-refused", ADMITTED, old, ("deny",))) or [
            Difference("no-longer-refused", "", "")
        ]
    else:
        yield from _changes(old, new)
        yield from _rules("newly-warned", old, new, _WARNED)
        yield from _rules("no-longer-warned", new, old, _WARNED)


def _rules(change: Change, without: Answered, having: Answered, outcomes: Sequence[str]) -> Iterator[Difference]:
    """One difference for each rule that one answer has and the other lacks."""
    known = {each.rule for each in without.said if each.outcome in outcomes}
    for each in having.said:
        if each.outcome in outcomes and each.rule not in known:
            known.add(each.rule)
            yield Difference(change, each.rule, each.message)


def _changes(old: Answered, new: Answered) -> Iterator[Difference]:
    before = None if old.patch is None else effects(old.patch)
    after = effects(new.patch or ())
    if before == after or (before is None and after):
        return
    change: Change = "no-longer-changed" if not after else "changed-differently" if before else "newly-changed"
    known = before or Counter()
    messages: dict[str, list[str]] = {}
    for each in _changers(new, old, after - known):
        messages.setdefault(each.rule, []).append(each.message)
    for each in _changers(old, new, known - after):
        messages.setdefault(each.rule, []).append(f"no longer: {each.message}")
    if not messages:
        yield Difference(change, "", "")
    for rule, said in messages.items():
        yield Difference(change, rule, "; ".join(said))


def _changers(answered: Answered, other: Answered, wanted: Counter[tuple[str, bytes]]) -> Iterator[Said]:
    """The changes that add what is wanted, or, where that is not known, those by rules that change nothing in the
    other answer."""
    rules = {each.rule for each in other.said if each.outcome in _CHANGES}
    for each in answered.said:
        if each.outcome in _CHANGES:
            effect = effects(each.operations)
            if wanted.keys() & effect.keys() if effect else each.rule not in rules:
                yield each


def effects(patch: Iterable[Operation]) -> Counter[tuple[str, bytes]]:
    """What a patch adds, however it is cut into operations: (path, value as JSON), lists and maps entry by entry."""
    found: Counter[tuple[str, bytes]] = Counter()
    for operation in patch:
        path, value = operation["path"].removesuffix("/-"), operation.get("value")
        if type(value) is list:
            entries = [(path, entry) for entry in value]
        elif type(value) is dict and not operation["path"].endswith("/-"):
            entries = [(f"{path}/{escape(key)}", entry) for key, entry in value.items()]
        else:
            entries = [(path, value)]
        found.update((at, orjson.dumps(entry, option=orjson.OPT_SORT_KEYS)) for at, entry in entries)
    return found
