"""The verdict on the object of a case, from the functions that answer for `check` and for the webhook."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from app.admission.judge import Verdict, judge, judge_update
from app.model.context import Context
from app.model.finding import Finding
from app.model.patch import Operation
from app.model.pod import MalformedPod, Pod
from app.policy.compiled import Exemption, Mode, Policy
from app.workloads.defaulting import defaulted
from app.workloads.kinds import Kinds, group_kind
from app.workloads.templates import Template, guesses, templates


class Unanswered(Exception):
    """The policy gives no verdict on this; the text says why."""


@dataclass(frozen=True, slots=True)
class JudgedPod:
    """A pod, or the pods of a template, with the findings of it."""

    pod: Pod
    context: Context
    exempt: Exemption | None
    findings: list[Finding]


@dataclass(frozen=True)
class Judged:
    """The verdict on an object; ``findings`` and ``patch`` are those of all its pods.

    Of an ``update`` the findings are those that it brings; what was there before is not among them.
    """

    policy: Policy
    object: dict[str, Any]
    mode: Mode
    allowed: bool
    gpu: bool
    pods: tuple[JudgedPod, ...]
    patch: tuple[Operation, ...] = ()
    update: bool = False

    @property
    def findings(self) -> list[Finding]:
        """The findings of all pods, in their order."""
        return [finding for each in self.pods for finding in each.findings]

    @property
    def exempt(self) -> Exemption | None:
        """Why nothing was asked of the policy; the pods of an object are exempt together or not at all."""
        return self.pods[0].exempt

    @property
    def containers(self) -> list[str]:
        """The names of the containers, of all kinds."""
        return [container.name for each in self.pods for container in each.pod.containers]

    @cached_property
    def after(self) -> dict[str, Any]:
        """The object with all repairs and injections that the mode applies."""
        import jsonpatch

        result: dict[str, Any] = jsonpatch.apply_patch(self.object, list(self.patch))
        return result

    @cached_property
    def as_written(self) -> list[Finding]:
        """The findings where nothing is repaired or injected."""
        return [
            finding
            for each in self.pods
            for finding in judge(self.policy, each.pod, each.context, self.mode, as_written=True).findings
        ]


def templates_in(obj: dict[str, Any], kinds: Kinds) -> Iterator[Template]:
    """The pods of an object, as `check` finds them: by its kind, or by their shape where the kind is not known."""
    if group_kind(obj) in kinds:
        yield from templates(obj, kinds)
        return
    for guess in guesses(obj, kinds):
        try:
            guess.pod()
        except MalformedPod:
            continue  # it only looked like a pod
        yield guess


def judged_object(policy: Policy, obj: dict[str, Any], mode: Mode, context: Context, kinds: Kinds) -> Judged:
    """The verdict on an object that is created; raises MalformedPod and Unanswered."""
    pods, verdicts = [], []
    for template in templates_in(obj, kinds):
        pod, inner = template.pod(), context._replace(template=template.kind.validated)
        verdicts.append(judge(policy, pod, inner, mode))
        pods.append(JudgedPod(pod, inner, verdicts[-1].exempt, verdicts[-1].findings))
    return _judged(policy, obj, mode, pods, verdicts)


def judged_update(
    policy: Policy, obj: dict[str, Any], old: dict[str, Any] | None, mode: Mode, context: Context, kinds: Kinds
) -> Judged:
    """The verdict on the UPDATE of a pod, which is never patched; raises MalformedPod and Unanswered."""
    if old is not None and isinstance(old.get("spec"), dict):
        old = {**old, "spec": defaulted(old["spec"])}  # as the API server sends it
    pods, verdicts = [], []
    for template in templates_in(obj, kinds):
        pod = template.pod()
        verdicts.append(judge_update(policy, pod, old, context, mode))
        pods.append(JudgedPod(pod, context, verdicts[-1].exempt, verdicts[-1].findings))
    return replace(_judged(policy, obj, mode, pods, verdicts), update=True)


def _judged(policy: Policy, obj: dict[str, Any], mode: Mode, pods: list[JudgedPod], verdicts: list[Verdict]) -> Judged:
    if not pods:
        raise Unanswered(f"{obj.get('kind')} holds no pod: the pod spec that its kind has is missing")
    return Judged(
        policy,
        obj,
        mode,
        allowed=all(verdict.allowed for verdict in verdicts),
        gpu=any(verdict.gpu for verdict in verdicts),
        pods=tuple(pods),
        patch=tuple(operation for verdict in verdicts for operation in verdict.patch),
    )


def shown(findings: list[Finding], *outcomes: Literal["deny", "warn", "audit", "repair", "inject", "note"]) -> str:
    """The findings with these outcomes (without any: all) on one line."""
    return (
        "; ".join(
            f"{finding.outcome} {finding.rule} at {finding.pointer}: {finding.message}"
            for finding in findings
            if not outcomes or finding.outcome in outcomes
        )
        or "none"
    )
