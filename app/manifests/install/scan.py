"""The CronJob that writes reports into the cluster, with the rights of app/manifests/scan_rbac.py."""

from collections.abc import Iterable
from typing import Any, Final

from app.manifests.install.pods import CONTAINER_SECURITY, memory_bound, pod_security
from app.manifests.install.settings import POLICY_FOLDER, Installation
from app.manifests.keeper_names import POLICY
from app.manifests.metadata import labels, metadata
from app.manifests.scan_rbac import SCANNER, scan_rbac

COMPONENT: Final = "scan"
SCHEDULE: Final = "17 * * * *"
"""Every hour, at no round minute, when everybody else's jobs start."""

_LONGEST_SECONDS: Final = 30 * 60


def scan(installation: Installation, added: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Its account and rights, the CronJob, its NetworkPolicy; ``added`` are the workload resources of the policy."""
    return [*scan_rbac(installation.namespace, added), _cron_job(installation), _network_policy(installation)]


def _cron_job(installation: Installation) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": metadata(SCANNER, COMPONENT, namespace=installation.namespace),
        "spec": {
            "schedule": SCHEDULE,
            "concurrencyPolicy": "Forbid",
            "successfulJobsHistoryLimit": 1,
            "failedJobsHistoryLimit": 3,
            "jobTemplate": {
                "spec": {
                    "backoffLimit": 1,
                    "activeDeadlineSeconds": _LONGEST_SECONDS,
                    "template": {"metadata": {"labels": labels(COMPONENT)}, "spec": _pod(installation)},
                }
            },
        },
    }


def _pod(installation: Installation) -> dict[str, Any]:
    return {
        "serviceAccountName": SCANNER,
        "automountServiceAccountToken": True,
        "enableServiceLinks": False,
        "restartPolicy": "Never",
        "securityContext": pod_security(),
        "containers": [
            {
                "name": "scan",
                "image": installation.image,
                "imagePullPolicy": "IfNotPresent",
                # What is wrong with workloads is in the reports; the Job fails only if it could not look.
                "args": ["scan", f"--policy={POLICY_FOLDER}", "--report", "--fail-on=none", "--quiet"],
                "resources": memory_bound("50m", "256Mi"),
                "securityContext": CONTAINER_SECURITY,
                "volumeMounts": [{"name": "policy", "mountPath": POLICY_FOLDER, "readOnly": True}],
            }
        ],
        "volumes": [{"name": "policy", "configMap": {"name": POLICY}}],
    }


def _network_policy(installation: Installation) -> dict[str, Any]:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(SCANNER, COMPONENT, namespace=installation.namespace),
        "spec": {
            "podSelector": {"matchLabels": labels(COMPONENT)},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [],
            # The API server: no pod, at an address that differs from cluster to cluster.
            "egress": [{"ports": [{"port": port, "protocol": "TCP"} for port in (443, 6443)]}],
        },
    }
