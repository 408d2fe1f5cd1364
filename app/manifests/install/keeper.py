"""The keeper's Deployment, with the rights of app/manifests/keeper_rbac.py."""

from typing import Any, Final

from app.manifests.install.pods import CONTAINER_SECURITY, PRIORITY_CLASS, memory_bound, pod_security, probe
from app.manifests.install.server import COMPONENT as SERVER
from app.manifests.install.settings import METRICS_PORT, WEBHOOK_PORT, Installation
from app.manifests.keeper_names import KEEPER
from app.manifests.keeper_rbac import keeper_rbac
from app.manifests.metadata import labels, metadata

COMPONENT: Final = "keeper"


def keeper(installation: Installation) -> list[dict[str, Any]]:
    """Its account and rights, its Deployment, a Service for its metrics, its NetworkPolicy."""
    rights = keeper_rbac(installation.namespace, certificates=installation.certificates == "keeper", create=False)
    return [*rights, _deployment(installation), _service(installation), _network_policy(installation)]


def _deployment(installation: Installation) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(KEEPER, COMPONENT, namespace=installation.namespace),
        "spec": {
            # Two may run at once: each write is conditional on what was read.
            "replicas": 2 if installation.ha else 1,
            "revisionHistoryLimit": 5,
            "selector": {"matchLabels": labels(COMPONENT)},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "template": {"metadata": {"labels": labels(COMPONENT)}, "spec": _pod(installation)},
        },
    }


def _pod(installation: Installation) -> dict[str, Any]:
    return {
        "serviceAccountName": KEEPER,
        "automountServiceAccountToken": True,
        "enableServiceLinks": False,
        "priorityClassName": PRIORITY_CLASS,
        "terminationGracePeriodSeconds": 30,
        "securityContext": pod_security(),
        "containers": [_container(installation)],
    }


def _container(installation: Installation) -> dict[str, Any]:
    made_elsewhere = installation.certificates != "keeper"
    return {
        "name": "keeper",
        "image": installation.image,
        "imagePullPolicy": "IfNotPresent",
        "args": [
            "keeper",
            f"--service={installation.namespace}/{installation.name}",
            f"--metrics-port={METRICS_PORT}",
            *(["--no-certificates"] if made_elsewhere else []),
            *(["--gitops"] if installation.gitops else []),
        ],
        "ports": [{"name": "metrics", "containerPort": METRICS_PORT, "protocol": "TCP"}],
        "livenessProbe": probe("/healthz", "metrics", period=20, failures=3),
        "resources": memory_bound("50m", "256Mi"),
        "securityContext": CONTAINER_SECURITY,
    }


def _service(installation: Installation) -> dict[str, Any]:
    """By which Prometheus finds the keepers; nothing else calls them."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(KEEPER, COMPONENT, namespace=installation.namespace),
        "spec": {
            "type": "ClusterIP",
            "clusterIP": "None",
            "selector": labels(COMPONENT),
            "ports": [{"name": "metrics", "port": METRICS_PORT, "targetPort": "metrics", "protocol": "TCP"}],
        },
    }


def _network_policy(installation: Installation) -> dict[str, Any]:
    server = {"podSelector": {"matchLabels": labels(SERVER)}}
    server_ports = [{"port": port, "protocol": "TCP"} for port in (WEBHOOK_PORT, METRICS_PORT)]
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(KEEPER, COMPONENT, namespace=installation.namespace),
        "spec": {
            "podSelector": {"matchLabels": labels(COMPONENT)},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"ports": [{"port": METRICS_PORT, "protocol": "TCP"}]}],
            "egress": [
                # The API server: no pod, at an address that differs from cluster to cluster.
                {"ports": [{"port": port, "protocol": "TCP"} for port in (443, 6443)]},
                # Which certificate and which policy the servers use.
                {"to": [server], "ports": server_ports},
            ],
        },
    }
