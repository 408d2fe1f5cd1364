"""The namespace, and the policy in it."""

from typing import Any, Final

from app.manifests.install.settings import Installation
from app.manifests.keeper_names import POLICY, POLICY_SOURCE
from app.manifests.metadata import metadata

_LEVELS: Final = ("enforce", "audit", "warn")


def namespace(installation: Installation) -> dict[str, Any]:
    """The namespace, at the Pod Security level `restricted`.

    No label takes it out of gpugate's own sight, as labels can be taken away: the webhook configurations exclude it by
    name (app/manifests/selectors.py).
    """
    found = metadata(installation.namespace, "namespace")
    levels = {f"pod-security.kubernetes.io/{level}": "restricted" for level in _LEVELS}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {**found, "labels": {**found["labels"], **levels}}}


def policy_map(installation: Installation) -> dict[str, Any]:
    """The policy's files. The keeper hands them on to the servers; without it they mount them themselves."""
    name = POLICY_SOURCE if installation.keeper else POLICY
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(name, "policy", namespace=installation.namespace),
        "data": dict(installation.files),
    }
