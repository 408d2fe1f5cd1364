"""Why a pod gets its verdict, in the order in which it comes about: one line a step."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from app.admission.exceptions import excepted
from app.admission.judge import Verdict, judge
from app.documents import Document
from app.engine import decide
from app.model.context import Context
from app.model.finding import Finding
from app.model.gpu import DEVICE_CLASS_PREFIX, GpuSet, GpuUse, Names, gpu_use
from app.model.pod import Pod
from app.model.words import counted
from app.policy.compiled import BoundInjection, BoundRule, Mode, Policy, PolicyException
from app.suite.reach import class_after, out_of_reach, unmatched

_DONE = {"repair": "repaired", "inject": "added", "note": "noted", "audit": "recorded", "warn": "warned of"}
_EXEMPT = {
    "namespace": "its namespace is in exempt.namespaces",
    "serviceAccount": "its service account is in exempt.serviceAccounts",
    "pod": "its labels are in exempt.pods",
}


class Step(NamedTuple):
    """One step; ``detail`` lines belong under it."""

    what: str
    outcome: str
    detail: tuple[str, ...] = ()


class Verdicts:
    """The steps to the verdict on one pod of a document."""

    def __init__(self, policy: Policy, document: Document, base: str, pod: Pod, context: Context, mode: Mode) -> None:
        self._policy = policy
        self._document = document
        self._base = base
        self._pod = pod
        self._context = context
        self._mode = mode
        self._use = gpu_use(pod, policy.gpus, context)
        self._verdict: Verdict = judge(policy, pod, context, mode)

    def steps(self) -> Iterator[Step]:
        """All of them, up to the one that settles it."""
        uses = tuple(_uses(self._use, self._policy.gpus))
        yield Step("GPU use", "a GPU pod" if self._use.gpu else "none: a pod without GPUs", uses)
        if self._verdict.exempt:
            yield Step("exempt", f"yes, {_EXEMPT[self._verdict.exempt]}")
            yield Step("result", "admitted untouched; nothing else is looked at")
            return
        yield Step("exempt", "no")
        if self._pod.mirror or self._mode == "disabled":
            why = "a mirror pod of the kubelet" if self._pod.mirror else "the mode is disabled"
            yield Step("result", f"admitted untouched: {why}")
            return
        after = class_after(self._pod, self._verdict.findings)
        for rule in self._policy.rules:
            yield self._bound(f"rule {rule.name}", rule, after)
        for injection in self._policy.injections:
            yield self._bound(f"injection {injection.name}", injection, after)
        if self._policy.kyverno:
            yield from self._kyverno()
        for exception in self._policy.exceptions:
            yield Step(f"exception {exception.name}", self._exception(exception))
        yield Step("result", self._result())

    def _bound(self, what: str, bound: BoundRule | BoundInjection, after: str) -> Step:
        reason = out_of_reach(bound, self._pod, self._use, self._context, after)
        if reason is not None:
            return Step(what, f"does not apply: {reason}")
        found = [finding for finding in self._verdict.findings if finding.rule == bound.name]
        if not found:
            return Step(what, "holds" if isinstance(bound, BoundRule) else "nothing to add")
        said = dict.fromkeys(self._word(finding) for finding in found)
        return Step(what, ", ".join(said), tuple(self._line(finding) for finding in found))

    def _kyverno(self) -> Iterator[Step]:
        """What each rule of Kyverno's policies says, in the order in which they are asked."""
        from app.admission.kyverno import asked  # see app.policy.compiled

        for policy, rule, result in asked(self._policy, self._pod, self._context):
            what = f"Kyverno {policy}/{rule}"
            found = [each for each in self._verdict.findings if (each.policy, each.rule) == (policy, rule)]
            if found:
                said = dict.fromkeys(self._word(finding) for finding in found)
                yield Step(what, ", ".join(said), tuple(self._line(finding) for finding in found))
            elif result is None:
                yield Step(what, "does not apply: not matched, or excluded")
            elif result.status == "skip":
                yield Step(what, f"does not apply: {result.message or 'there is nothing to do'}")
            else:
                yield Step(what, "holds")

    def _word(self, finding: Finding) -> str:
        if finding.outcome == "deny":
            return "violated" if self._mode == "enforce" else f"violated ({self._mode} admits it)"
        if finding.outcome in ("repair", "inject") and not self._verdict.patch:
            return f"would be {_DONE[finding.outcome]} ({self._mode} changes nothing)"
        return _DONE[finding.outcome]

    def _line(self, finding: Finding) -> str:
        region = self._document.locate(self._base + finding.pointer)
        help_text = f" ({finding.help})" if finding.help else ""
        return f"{self._document.name}:{region.line}:{region.column}: {finding.message}{help_text}"

    def _exception(self, exception: PolicyException) -> str:
        today = self._context.today
        if today is None or today > exception.expires:
            return f"does not apply: it ended with {exception.expires}"
        reason = unmatched(exception.match, self._pod, self._use, self._context, self._pod.runtime_class)
        if reason is not None:
            return f"does not apply: {reason}"
        findings = decide(self._policy, self._pod, self._context).findings
        alone = replace(self._policy, exceptions=(exception,))
        covers = excepted(alone, findings, self._pod, self._use, self._context) != findings
        return f"lets through, until {exception.expires}" if covers else "lets nothing through here"

    def _result(self) -> str:
        verdict = self._verdict
        refused = [finding for finding in verdict.findings if finding.outcome == "deny"]
        if not verdict.allowed:
            return f"refused, for {counted(len(refused), 'violation')}"
        changes = sum(finding.outcome in ("repair", "inject") for finding in verdict.findings) if verdict.patch else 0
        warned = refused or any(finding.outcome == "warn" for finding in verdict.findings)
        warnings = ", with warnings" if warned and self._mode != "audit" else ""
        how = f"with {counted(changes, 'change')}" if changes else "as it is"
        return f"admitted {how}{warnings}"


def _uses(use: GpuUse, gpus: GpuSet) -> Iterator[str]:
    """Which containers ask for what, and by which preset that is a GPU."""
    for container, resources in use.containers:
        for name in resources:
            asked = [
                f"{section} {values[name]}"
                for section, values in (("requests", container.requests), ("limits", container.limits))
                if name in values
            ]
            yield f"{container.label}: {name} ({', '.join(asked)}), of {_owners(name, gpus)}"
        if not resources:
            yield f"{container.label}: a claim for {', '.join(sorted(use.device_classes))}"
    if use.annotation is not None:
        yield f"annotation {use.annotation}"
    if use.unknown_claim is not None:
        yield f"the claim {use.unknown_claim!r} may be for a GPU: its device class is not known"
    if use.runtime_classes:
        yield f"runtime classes that hand it over: {', '.join(sorted(use.runtime_classes))}"


def _owners(name: str, gpus: GpuSet) -> str:
    if name.startswith(DEVICE_CLASS_PREFIX):
        return "a GPU device class"
    owners = [vendor.name for vendor in gpus.vendors if name in Names(vendor.resources)]
    return ", ".join("the policy's gpus.resources" if owner == "policy" else f"preset {owner}" for owner in owners)
