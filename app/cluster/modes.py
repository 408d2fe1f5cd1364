"""The mode of a namespace: reading and setting its label, and the nodes that its pods could go to."""

from typing import Any

from app.cluster.client import Cluster
from app.policy.compiled import MODE_LABEL, Mode


def label_of(cluster: Cluster, namespace: str) -> str | None:
    """The value of the namespace's label; raises ClusterError."""
    labels = cluster.get(f"/api/v1/namespaces/{namespace}")["metadata"].get("labels") or {}
    value: str | None = labels.get(MODE_LABEL)
    return value


def set_label(cluster: Cluster, namespace: str, mode: Mode) -> None:
    """Choose the mode; raises ClusterError, such as Forbidden for who may not."""
    cluster.patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": {MODE_LABEL: mode}}})


def labelled(namespace: str, mode: Mode) -> dict[str, Any]:
    """The same change as an object, for `kubectl apply` and the tools of GitOps."""
    metadata = {"name": namespace, "labels": {MODE_LABEL: mode}}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def node_labels(cluster: Cluster) -> list[dict[str, str]]:
    """The labels of each node; raises ClusterError."""
    return [node["metadata"].get("labels") or {} for page in cluster.pages("/api/v1/nodes") for node in page]
