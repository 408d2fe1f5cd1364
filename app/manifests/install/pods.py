"""What the pods of the server and of the keeper have in common: no rights on the node, and a place under pressure."""

from typing import Any, Final

from app.manifests.install.settings import USER

PRIORITY_CLASS: Final = "system-cluster-critical"
"""Evicted after everything else: while no server runs, enforce namespaces get no new GPU pods."""

CONTAINER_SECURITY: Final = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}
"""Neither process writes a file."""


def pod_security() -> dict[str, Any]:
    """The pod's securityContext, as the Pod Security level `restricted` asks for."""
    return {
        "runAsNonRoot": True,
        "runAsUser": USER,
        "runAsGroup": USER,
        # The group of mounted Secrets, whose files others cannot read.
        "fsGroup": USER,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def probe(path: str, port: str, scheme: str = "HTTP", *, period: int, failures: int) -> dict[str, Any]:
    """An HTTP probe; ``period`` in seconds."""
    return {
        "httpGet": {"path": path, "port": port, "scheme": scheme},
        "periodSeconds": period,
        "timeoutSeconds": 3,
        "failureThreshold": failures,
    }


def memory_bound(cpu: str, memory: str) -> dict[str, Any]:
    """Resources: memory is had or not, so request and limit are the same; a CPU limit would only slow answers down."""
    return {"requests": {"cpu": cpu, "memory": memory}, "limits": {"memory": memory}}
