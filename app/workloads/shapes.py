"""What looks like a pod spec, in objects of kinds that nobody described."""

from typing import Any, Final

# The groups that Kubernetes itself serves: what of theirs makes pods is known. A ControllerRevision holds the template
# of a DaemonSet, and makes none.
_BUILT_IN: Final = frozenset(
    (
        "", "apps", "autoscaling", "batch", "policy", "admissionregistration.k8s.io", "apiextensions.k8s.io",
        "apiregistration.k8s.io", "authentication.k8s.io", "authorization.k8s.io", "certificates.k8s.io",
        "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "flowcontrol.apiserver.k8s.io",
        "internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "rbac.authorization.k8s.io",
        "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io",
    )
)  # fmt: skip

# Groups whose objects hold patterns and patches for pods, and tests with pods in them, but make none.
_ABOUT_PODS: Final = frozenset(
    (
        "cli.kyverno.io", "gpugate.dev", "kustomize.config.k8s.io", "kyverno.io", "mutations.gatekeeper.sh",
        "policies.kyverno.io", "templates.gatekeeper.sh",
    )
)  # fmt: skip

_CONTAINERS: Final = ("image", "resources", "command", "args", "env", "ports", "volumeMounts")


def may_hold_pods(group: str) -> bool:
    """False for a group of which it is known that none of its other kinds makes pods."""
    return group not in _BUILT_IN and group not in _ABOUT_PODS


def like_a_pod_spec(value: dict[str, Any]) -> bool:
    """True for a map whose ``containers`` are a list of maps with names, each with an image or more that only a
    container has."""
    listed = value.get("containers")
    return type(listed) is list and bool(listed) and all(_like_a_container(each) for each in listed)


def _like_a_container(value: Any) -> bool:
    if type(value) is not dict or type(value.get("name")) is not str:
        return False
    return type(value.get("image")) is str or any(field in value for field in _CONTAINERS)
