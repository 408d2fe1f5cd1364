"""The guard of the label gpugate.dev/mode: who may choose a namespace's mode.

Anyone who may edit a namespace could else take it out of `enforce`. Changing the label, in any way, needs the verb
`set` on `modes.gpugate.dev` with the namespace's name. There is no such resource; RBAC grants rights on names alone.
It is asked for without a namespace, so that only a ClusterRoleBinding grants it: a namespace's own administrators,
who may hold every right inside it, do not have it.

Labels change through `namespaces/status` and `namespaces/finalize` too. Whoever may delete a namespace and make it anew
can lose its label that way; pin the namespace in the policy where that matters.
"""

from typing import Any, Final

from app.manifests.metadata import metadata
from app.model import cel
from app.policy.compiled import MODE_LABEL

NAME: Final = "gpugate-mode-label"
SETTER: Final = "gpugate-mode-setter"
GROUP, RESOURCE, VERB = "gpugate.dev", "modes", "set"

_LABEL: Final = f"metadata.?labels[?{cel.text(MODE_LABEL)}]"
_VARIABLES: Final = {
    "before": f"oldObject == null ? optional.none() : oldObject.{_LABEL}",
    "after": f"object.{_LABEL}",
}
_ALLOWED: Final = (
    "variables.before == variables.after ||\n"
    f"authorizer.group({cel.text(GROUP)}).resource({cel.text(RESOURCE)}).name(object.metadata.name)"
    f".check({cel.text(VERB)}).allowed()"
)
_MESSAGE: Final = " +\n".join(
    (
        cel.text(f"the label {MODE_LABEL} of namespace "),
        "object.metadata.name",
        cel.text(" (from "),
        'variables.before.orValue("none")',
        cel.text(" to "),
        'variables.after.orValue("none")',
        cel.text(
            f") is changed by those who have the verb {VERB} on {RESOURCE}.{GROUP} with the namespace's name; "
            f"to grant it for every namespace: kubectl create clusterrolebinding NAME --clusterrole={SETTER} --user="
        ),
        "request.userInfo.username",
    )
)


def guard() -> list[dict[str, Any]]:
    """A ClusterRole that grants the right for every namespace, the policy, and its binding."""
    return [_setter(), _policy(), _binding()]


def _setter() -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": metadata(SETTER, "mode-label"),
        "rules": [{"apiGroups": [GROUP], "resources": [RESOURCE], "verbs": [VERB]}],
    }


def _policy() -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": metadata(NAME, "mode-label"),
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "matchPolicy": "Equivalent",
                "namespaceSelector": {},
                "objectSelector": {},
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE", "UPDATE"],
                        "resources": ["namespaces", "namespaces/status", "namespaces/finalize"],
                        "scope": "*",
                    }
                ],
            },
            "variables": [{"name": name, "expression": expression} for name, expression in _VARIABLES.items()],
            "validations": [{"expression": _ALLOWED, "messageExpression": _MESSAGE, "reason": "Forbidden"}],
        },
    }


def _binding() -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": metadata(NAME, "mode-label"),
        "spec": {"policyName": NAME, "validationActions": ["Deny"]},
    }
