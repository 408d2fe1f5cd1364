"""How the server is reached, and by whom."""

from typing import Any

from app.manifests.install.server import COMPONENT
from app.manifests.install.settings import METRICS_PORT, WEBHOOK_PORT, Installation
from app.manifests.metadata import labels, metadata


def network(installation: Installation) -> list[dict[str, Any]]:
    """The Service that the API server calls and Prometheus finds, and the server's NetworkPolicy."""
    return [_service(installation), _policy(installation)]


def _service(installation: Installation) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(installation.name, COMPONENT, namespace=installation.namespace),
        "spec": {
            "type": "ClusterIP",
            "selector": labels(COMPONENT),
            "ports": [
                {"name": "webhook", "port": installation.service.port, "targetPort": "webhook", "protocol": "TCP"},
                {"name": "metrics", "port": METRICS_PORT, "targetPort": "metrics", "protocol": "TCP"},
            ],
        },
    }


def _policy(installation: Installation) -> dict[str, Any]:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(installation.name, COMPONENT, namespace=installation.namespace),
        "spec": {
            "podSelector": {"matchLabels": labels(COMPONENT)},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [
                # API servers and kubelets are no pods: where they come from differs from cluster to cluster.
                {"ports": [{"port": WEBHOOK_PORT, "protocol": "TCP"}]},
                {"ports": [{"port": METRICS_PORT, "protocol": "TCP"}]},
            ],
            # The server talks to nobody.
            "egress": [],
        },
    }
