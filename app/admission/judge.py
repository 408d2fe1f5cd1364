"""The whole answer of a namespace's mode to a pod, for commands that look at pods outside a request."""

from typing import Any, NamedTuple

from app.admission.exceptions import excepted
from app.admission.placing import notes, placed
from app.admission.webhook import APPLIES, worse
from app.engine import decide
from app.model.context import Context
from app.model.finding import Finding
from app.model.gpu import gpu_use
from app.model.patch import Operation
from app.model.pod import MalformedPod, Pod
from app.policy.compiled import Exemption, Mode, Policy


class Verdict(NamedTuple):
    """What would happen to the pod.

    ``allowed`` is what the mode answers; ``findings`` hold violations (``deny`` is what `enforce` refuses for),
    warnings, notes, repairs and injections; ``patch`` is what the mode applies to the object that holds the pod.
    """

    mode: Mode
    allowed: bool
    gpu: bool
    exempt: Exemption | None
    findings: list[Finding]
    patch: list[Operation]


def judge(policy: Policy, pod: Pod, context: Context, mode: Mode, *, as_written: bool = False) -> Verdict:
    """Both calls of the webhook in one: repairs and injections count as done, what is left is judged.

    With ``as_written`` nothing is assumed to be done: what a repair would mend is a violation, and what would be
    injected is a note. Raises MalformedPod.
    """
    try:
        return _judge(policy, pod, context, mode, as_written=as_written)
    except MalformedPod as error:
        raise error if pod.places is None else pod.places.malformed(error) from None


def _judge(policy: Policy, pod: Pod, context: Context, mode: Mode, *, as_written: bool) -> Verdict:
    namespace = context.namespace or ""
    exempt = policy.exempt.reason(namespace, pod)
    if exempt or pod.mirror or mode == "disabled":
        return Verdict(mode, True, False, exempt, [], [])
    earlier: list[Finding] = []
    more: list[Finding] = []
    if policy.kyverno:
        from app.admission.kyverno import mutated, violations  # see app.policy.compiled

        before = mutated(policy, pod, context)
        pod = pod if as_written else before.pod
        earlier, more = before.changes, before.errors + violations(policy, pod, context)
    decision = decide(policy, pod, context, repair=not as_written)
    findings = excepted(policy, decision.findings + more, pod, decision.use, context)
    changes, gpu = earlier + decision.changes, decision.use.gpu
    if pod.places is not None:
        repaired = decide(policy, pod, context) if as_written else decision
        findings, changes = placed(pod.places, findings, changes, repaired.changes, gpu=gpu)
        findings += notes(pod.places, policy)
    allowed = mode != "enforce" or all(finding.outcome != "deny" for finding in findings)
    if as_written:
        return Verdict(mode, allowed, gpu, None, findings + [_missing(change) for change in changes], [])
    patch = [operation for change in changes for operation in change.operations] if mode in APPLIES else []
    return Verdict(mode, allowed, gpu, None, findings + changes, patch)


def in_mode(verdict: Verdict, mode: Mode) -> Verdict:
    """What a mode makes of the verdict of `enforce`: it finds the same, and does something else about it."""
    if mode == "disabled":
        return Verdict(mode, True, False, verdict.exempt, [], [])
    patch = verdict.patch if mode in APPLIES else []
    return verdict._replace(mode=mode, allowed=mode != "enforce" or verdict.allowed, patch=patch)


def judge_update(policy: Policy, pod: Pod, old_object: dict[str, Any] | None, context: Context, mode: Mode) -> Verdict:
    """The answer to an UPDATE of a pod: nothing is changed, and only what the update makes worse counts."""
    exempt = policy.exempt.reason(context.namespace or "", pod)
    if exempt or pod.mirror or mode == "disabled" or pod.metadata.get("deletionTimestamp"):
        return Verdict(mode, True, False, exempt, [], [])
    findings = worse(policy, pod, old_object, context)
    allowed = mode != "enforce" or all(finding.outcome != "deny" for finding in findings)
    return Verdict(mode, allowed, gpu_use(pod, policy.gpus, context).gpu, None, findings, [])


def _missing(change: Finding) -> Finding:
    return change._replace(outcome="note", message=f"would be changed in a cluster: {change.message}", operations=())
