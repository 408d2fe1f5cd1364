"""The whole answer of a namespace's mode to a pod, for commands that look at pods outside a request."""

from typing import NamedTuple

from app.admission.exceptions import excepted
from app.admission.webhook import APPLIES
from app.engine import decide
from app.model.context import Context
from app.model.finding import Finding
from app.model.patch import Operation
from app.model.pod import Pod
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
    injected is a note.
    """
    namespace = context.namespace or ""
    exempt = policy.exempt.reason(namespace, pod)
    if exempt or pod.mirror or mode == "disabled":
        return Verdict(mode, True, False, exempt, [], [])
    decision = decide(policy, pod, context, repair=not as_written)
    findings = excepted(policy, decision.findings, pod, decision.use, context)
    allowed = mode != "enforce" or all(finding.outcome != "deny" for finding in findings)
    if as_written:
        missing = [_missing(change) for change in decision.changes]
        return Verdict(mode, allowed, decision.use.gpu, None, findings + missing, [])
    applied = decision.changes if mode in APPLIES else ()
    patch = [operation for change in applied for operation in change.operations]
    return Verdict(mode, allowed, decision.use.gpu, None, findings + decision.changes, patch)


def _missing(change: Finding) -> Finding:
    return change._replace(outcome="note", message=f"would be changed in a cluster: {change.message}", operations=())
