"""What keeps enough servers running while nodes are drained and load grows."""

from typing import Any, Final

from app.manifests.install.pods import PRIORITY_CLASS
from app.manifests.install.server import COMPONENT, REPLICAS
from app.manifests.install.settings import Installation
from app.manifests.metadata import labels, metadata

_MOST_REPLICAS: Final = 10
_MOST_PODS: Final = 20
"""Room for the most servers with one more while they are replaced, and for the keepers."""

_CPU_PERCENT: Final = 70
"""Of the CPU request, on average."""


def availability(installation: Installation) -> list[dict[str, Any]]:
    """The PodDisruptionBudget, and with ``ha`` the HorizontalPodAutoscaler."""
    return [_budget(installation), *([_autoscaler(installation)] if installation.ha else [])]


def priority_quota(installation: Installation) -> dict[str, Any]:
    """The ResourceQuota without which clusters that limit the class refuse its pods outside of kube-system."""
    scope = {"scopeName": "PriorityClass", "operator": "In", "values": [PRIORITY_CLASS]}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": metadata(f"{installation.name}-critical-pods", COMPONENT, namespace=installation.namespace),
        "spec": {"hard": {"pods": str(_MOST_PODS)}, "scopeSelector": {"matchExpressions": [scope]}},
    }


def _budget(installation: Installation) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(installation.name, COMPONENT, namespace=installation.namespace),
        "spec": {
            "maxUnavailable": 1,
            "selector": {"matchLabels": labels(COMPONENT)},
            # A pod that is not ready anyway must not keep a node from being drained.
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }


def _autoscaler(installation: Installation) -> dict[str, Any]:
    target = {"type": "Utilization", "averageUtilization": _CPU_PERCENT}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": metadata(installation.name, COMPONENT, namespace=installation.namespace),
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": installation.name},
            "minReplicas": REPLICAS,
            "maxReplicas": _MOST_REPLICAS,
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
        },
    }
