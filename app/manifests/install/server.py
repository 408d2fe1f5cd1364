"""The server's Deployment and ServiceAccount."""

from typing import Any, Final

from app.manifests.install.pods import CONTAINER_SECURITY, PRIORITY_CLASS, memory_bound, pod_security, probe
from app.manifests.install.settings import (
    CERTIFICATE_FOLDER,
    FACTS_FOLDER,
    METRICS_PORT,
    POLICY_FOLDER,
    WEBHOOK_PORT,
    Installation,
)
from app.manifests.keeper_names import CERTIFICATE_SECRET, CLUSTER_FACTS, FACTS_KEY, POLICY
from app.manifests.metadata import labels, metadata

COMPONENT: Final = "server"
REPLICAS: Final = 3

_PRE_STOP_SECONDS: Final = 10
"""Endpoints of a terminating pod are forgotten within a few seconds; until then it goes on answering."""

_GRACE_SECONDS: Final = 30
"""The sleep, 5 s of draining and 10 s for what is in flight (app/server/limits.py), and some to spare."""


def server(installation: Installation) -> list[dict[str, Any]]:
    """The ServiceAccount, which has no rights and gives no token, and the Deployment."""
    return [_account(installation), _deployment(installation)]


def _account(installation: Installation) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata(installation.name, COMPONENT, namespace=installation.namespace),
        "automountServiceAccountToken": False,
    }


def _deployment(installation: Installation) -> dict[str, Any]:
    spec: dict[str, Any] = {
        # With autoscaling the number is the autoscaler's; written here, each apply would set it back.
        **({} if installation.ha else {"replicas": REPLICAS}),
        "revisionHistoryLimit": 5,
        "selector": {"matchLabels": labels(COMPONENT)},
        # Never fewer than before: a new pod is ready before an old one is told to end.
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
        "template": {"metadata": {"labels": labels(COMPONENT)}, "spec": _pod(installation)},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(installation.name, COMPONENT, namespace=installation.namespace),
        "spec": spec,
    }


def _pod(installation: Installation) -> dict[str, Any]:
    return {
        "serviceAccountName": installation.name,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "priorityClassName": PRIORITY_CLASS,
        "terminationGracePeriodSeconds": _GRACE_SECONDS,
        "securityContext": pod_security(),
        "topologySpreadConstraints": [
            _spread("kubernetes.io/hostname", "DoNotSchedule" if installation.ha else "ScheduleAnyway"),
            _spread("topology.kubernetes.io/zone", "ScheduleAnyway"),
        ],
        "containers": [_container(installation)],
        "volumes": _volumes(),
    }


def _spread(topology: str, unsatisfiable: str) -> dict[str, Any]:
    return {
        "maxSkew": 1,
        "topologyKey": topology,
        "whenUnsatisfiable": unsatisfiable,
        "labelSelector": {"matchLabels": labels(COMPONENT)},
        # Each rollout by itself: else the pods that it replaces would keep the new ones from their nodes.
        "matchLabelKeys": ["pod-template-hash"],
    }


def _container(installation: Installation) -> dict[str, Any]:
    return {
        "name": "server",
        "image": installation.image,
        "imagePullPolicy": "IfNotPresent",
        "args": [
            "serve",
            f"--policy={POLICY_FOLDER}",
            f"--cert-dir={CERTIFICATE_FOLDER}",
            f"--cluster-facts={FACTS_FOLDER}/{FACTS_KEY}",
            f"--port={WEBHOOK_PORT}",
            f"--metrics-port={METRICS_PORT}",
            # With a bad policy it is not ready and says why, where it would else be restarted, ever more slowly.
            "--wait",
        ],
        "ports": [
            {"name": "webhook", "containerPort": WEBHOOK_PORT, "protocol": "TCP"},
            {"name": "metrics", "containerPort": METRICS_PORT, "protocol": "TCP"},
        ],
        # It starts within seconds; until then a failing liveness probe would only restart it.
        "startupProbe": probe("/healthz", "metrics", period=1, failures=60),
        # Over TLS, as the API server calls it.
        "readinessProbe": probe("/readyz", "webhook", "HTTPS", period=5, failures=2),
        "livenessProbe": probe("/healthz", "metrics", period=10, failures=3),
        "lifecycle": {"preStop": {"sleep": {"seconds": _PRE_STOP_SECONDS}}},
        "resources": memory_bound("100m", "192Mi"),
        "securityContext": CONTAINER_SECURITY,
        "volumeMounts": [
            {"name": "policy", "mountPath": POLICY_FOLDER, "readOnly": True},
            {"name": "certificates", "mountPath": CERTIFICATE_FOLDER, "readOnly": True},
            {"name": "facts", "mountPath": FACTS_FOLDER, "readOnly": True},
        ],
    }


def _volumes() -> list[dict[str, Any]]:
    return [
        {"name": "policy", "configMap": {"name": POLICY}},
        # Not optional: the pod waits for its first certificate.
        {"name": "certificates", "secret": {"secretName": CERTIFICATE_SECRET, "defaultMode": 0o440}},
        {"name": "facts", "configMap": {"name": CLUSTER_FACTS, "optional": True}},
    ]
