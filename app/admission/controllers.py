"""What Kyverno's policies say of the controllers of pods themselves, beside what is found in their pods."""

from typing import Any, Final

from app.model.context import Context
from app.model.finding import Finding
from app.policy.compiled import Policy

_GROUPS: Final = {
    "DaemonSet": "apps/v1",
    "Deployment": "apps/v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "ReplicationController": "v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
}


def controller_findings(policy: Policy, obj: dict[str, Any], context: Context, found: list[Finding]) -> list[Finding]:
    """The warnings about the object, with pointers into it; none for what is no controller of pods.

    ``found`` is what its pods were found at fault with: a rule that Kyverno made of one of theirs would say it again.
    """
    if not policy.kyverno or _GROUPS.get(str(obj.get("kind"))) != obj.get("apiVersion"):
        return []
    from app.admission.kyverno import controller_violations  # see app.policy.compiled
    from app.kyverno.autogen import base_name

    known = {(finding.policy, finding.rule) for finding in found}
    return [
        finding
        for finding in controller_violations(policy, obj, context)
        if (finding.policy, base_name(finding.rule)) not in known
    ]
