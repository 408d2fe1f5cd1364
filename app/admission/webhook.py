"""The answers of the webhook: one AdmissionReview of a pod, in one phase, in one mode."""

import re
from typing import Any, Final, Literal, NamedTuple

from app.admission.exceptions import excepted
from app.admission.review import Request, answer, printable, record, refusal, warnings
from app.engine import Decision, decide
from app.model.context import Context
from app.model.finding import Finding
from app.model.pod import MalformedPod, Pod
from app.policy.compiled import Mode, Policy

Phase = Literal["mutate", "validate"]
Outcome = Literal["allowed", "changed", "refused", "exempt", "error"]


class Answer(NamedTuple):
    """The response, and what the log and the metrics say of it. ``findings`` are those that were spoken of."""

    body: bytes
    verdict: Outcome
    mode: Mode
    findings: list[Finding]
    error: str | None = None


_NOTHING: Final[list[Finding]] = []
_CONTAINER: Final = re.compile(r"^.*/(?:c|initC|ephemeralC)ontainers/\d+")
APPLIES: Final = ("assist", "enforce")
"""The modes that apply repairs and injections."""


def review(policy: Policy, phase: Phase, mode: Mode, request: Request, context: Context) -> Answer:
    """Answer the request as the mode asks for; a namespace that the policy pins has its own mode.

    ``context.namespace`` is the request's namespace. A pod that cannot be read is answered like an internal error.
    """
    mode = policy.modes.namespaces.get(request.namespace, mode)
    if request.kind != "Pod" or request.group:
        found = f"{request.kind}.{request.group}" if request.group else request.kind
        return failure(
            request.uid, mode, f"/{phase} judges pods, and was sent a {found}; see its rules in the configuration"
        )
    obj = request.object
    if mode == "disabled" or request.operation not in ("CREATE", "UPDATE") or obj is None:
        return Answer(answer(request.uid), "allowed", mode, _NOTHING)
    try:
        pod = Pod.of(obj)
        if pod.mirror or pod.metadata.get("deletionTimestamp"):
            return Answer(answer(request.uid), "allowed", mode, _NOTHING)
        exempt = policy.exempt.reason(request.namespace, pod)
        if exempt:
            annotations: dict[str, str] = {"mode": mode, "exempt": exempt}
            return Answer(answer(request.uid, annotations=annotations), "exempt", mode, _NOTHING)
        if policy.kyverno:
            context = context._replace(request=request.raw)
        if request.operation == "UPDATE":
            # A pod is never patched after its creation, so the mutating phase has nothing to say.
            findings = worse(policy, pod, request.old_object, context) if phase == "validate" else _NOTHING
            return _validated(request.uid, mode, findings)
        if phase == "mutate":
            return _mutate(policy, mode, request.uid, pod, context)
        judged_as_repaired = mode in ("audit", "warn")
        if judged_as_repaired and policy.kyverno:
            pod = _changed(policy, pod, context)
        decision = decide(policy, pod, context, repair=judged_as_repaired, injections=policy.selecting)
        violations = _kyverno(policy, pod, context)
        return _validated(request.uid, mode, _spoken(policy, decision, pod, context, violations))
    except MalformedPod as error:
        return failure(request.uid, mode, str(error))


def failure(uid: str, mode: Mode, message: str) -> Answer:
    """What cannot be judged: refused in `enforce`, admitted elsewhere with an audit annotation."""
    message = printable(f"gpugate: {message}")
    if mode == "enforce":
        status = {"code": 500, "reason": "InternalError", "message": message}
        body = answer(uid, allowed=False, status=status)
    else:
        body = answer(uid, annotations={"mode": mode, "error": message})
    return Answer(body, "error", mode, _NOTHING, message)


def _kyverno(policy: Policy, pod: Pod, context: Context, old: Pod | None = None) -> list[Finding]:
    """What Kyverno's policies find in the pod."""
    if not policy.kyverno:
        return _NOTHING
    from app.admission.kyverno import violations  # see app.policy.compiled

    return violations(policy, pod, context, old)


def _changed(policy: Policy, pod: Pod, context: Context) -> Pod:
    """The pod as Kyverno's policies would change it."""
    from app.admission.kyverno import mutated

    return mutated(policy, pod, context).pod


def _spoken(
    policy: Policy, decision: Decision, pod: Pod, context: Context, more: list[Finding] = _NOTHING
) -> list[Finding]:
    """What the validating call speaks of: what was decided, and more."""
    findings = excepted(policy, decision.findings + more, pod, decision.use, context)
    return [finding for finding in findings if not finding.early]


def worse(policy: Policy, pod: Pod, old_object: dict[str, Any] | None, context: Context) -> list[Finding]:
    """The findings that the old object did not have. Without an old object, all."""
    old = Pod.of(old_object) if old_object is not None else None
    # Kyverno's rules compare with the old object by themselves, or say that they don't.
    now = _unpatched(policy, pod, context, _kyverno(policy, pod, context, old))
    if old is None:
        return now
    violations = [finding for finding in now if finding.outcome != "note"]
    if not violations:
        return violations
    known = {_identity(finding) for finding in _unpatched(policy, old, context)}
    return [finding for finding in violations if _identity(finding) not in known]


def _unpatched(policy: Policy, pod: Pod, context: Context, more: list[Finding] = _NOTHING) -> list[Finding]:
    """What is found in a pod that nothing is injected into any more."""
    return _spoken(policy, decide(policy, pod, context, repair=False, injections=()), pod, context, more)


def _identity(finding: Finding) -> tuple[Any, ...]:
    # Without the index of the container, and for the rest of the pod by what is said: appending to a list must not
    # make what was there before look new.
    place = finding.message if finding.container is None else _CONTAINER.sub("", finding.pointer)
    return finding.policy, finding.rule, finding.outcome, finding.container_kind, finding.container, place


def _mutate(policy: Policy, mode: Mode, uid: str, pod: Pod, context: Context) -> Answer:
    before = None
    if policy.kyverno:
        from app.admission.kyverno import mutated

        before = mutated(policy, pod, context)
        pod = before.pod
    # Only rules that repair find what this call may refuse; the others are for a refusal that lists everything.
    decision = decide(policy, pod, context, rules=policy.repairing)
    if decision.findings and mode == "enforce" and any(finding.final for finding in decision.findings):
        decision = decide(policy, pod, context)
    _, findings, changes = decision
    if before is not None:
        findings, changes = before.errors + findings, before.changes + changes
        if mode == "enforce" and any(finding.final for finding in findings):
            findings += _kyverno(policy, pod, context)
    if findings:
        findings = excepted(policy, findings, pod, decision.use, context)
        refused = [finding for finding in findings if finding.outcome == "deny"]
        if mode == "enforce" and any(finding.final for finding in refused):
            annotations = {"mode": mode, "findings": record(refused)}
            body = answer(uid, allowed=False, status=refusal(refused), annotations=annotations)
            return Answer(body, "refused", mode, refused)
        findings = [finding for finding in findings if finding.early or finding.final]
    if not changes and not findings:
        return Answer(answer(uid), "allowed", mode, _NOTHING)
    annotations = {"mode": mode}
    if findings:
        annotations["findings"] = record(findings)
    if changes:
        annotations["changes"] = record(changes)
    said: list[str] = []
    if mode != "audit":
        spoken = [finding for finding in findings if finding.outcome in ("deny", "warn")]
        said = warnings(spoken, changes if mode == "warn" else ())
    patch = [operation for change in changes for operation in change.operations] if mode in APPLIES else None
    body = answer(uid, patch=patch, warnings=said, annotations=annotations)
    return Answer(body, "changed" if patch else "allowed", mode, findings + changes)


def _validated(uid: str, mode: Mode, findings: list[Finding]) -> Answer:
    if not findings:
        return Answer(answer(uid), "allowed", mode, _NOTHING)
    annotations = {"mode": mode, "findings": record(findings)}
    said: list[str] = []
    if mode != "audit":
        spoken = ("warn",) if mode == "enforce" else ("warn", "deny")
        said = warnings([finding for finding in findings if finding.outcome in spoken])
    refused = [finding for finding in findings if finding.outcome == "deny"] if mode == "enforce" else _NOTHING
    if refused:
        body = answer(uid, allowed=False, status=refusal(refused), warnings=said, annotations=annotations)
        return Answer(body, "refused", mode, findings)
    return Answer(answer(uid, warnings=said, annotations=annotations), "allowed", mode, findings)
