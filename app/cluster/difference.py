"""What applying objects would change in a cluster: asked of the API server by dry runs, so that its defaults count.

What others own stays out of it: labels and annotations that ours do not name, a CA bundle that somebody filled in, the
number of servers where an autoscaler chooses it, the entries of configurations that the keeper fills.
"""

from collections.abc import Iterable, Iterator
from difflib import unified_diff
from typing import Any, Final

from app.cluster.client import Cluster
from app.cluster.errors import NotFound
from app.manifests.objects import text

_OF_THE_SERVER: Final = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink")
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def differences(cluster: Cluster, objects: Iterable[dict[str, Any]]) -> Iterator[str]:
    """A unified diff of each object that would change or be made, the cluster's first. Raises ClusterError."""
    for obj in objects:
        collection = _collection(obj)
        path = f"{collection}/{obj['metadata']['name']}"
        before = after = ""
        try:
            live = cluster.get(path)
        except NotFound:
            after = _shown(_made(cluster, collection, obj))
        else:
            before = _shown(live)
            after = _shown(cluster.replace(path, _over(live, obj), dryRun="All"))
        lines = unified_diff(
            before.splitlines(), after.splitlines(), f"cluster{path}", f"manifests{path}", lineterm="", n=3
        )
        changed = "\n".join(lines)
        if changed:
            yield changed


def _made(cluster: Cluster, collection: str, obj: dict[str, Any]) -> dict[str, Any]:
    try:
        return cluster.create(collection, obj, dryRun="All")
    except NotFound:
        return obj  # its namespace, or its kind, is not there yet either


def _over(live: dict[str, Any], obj: dict[str, Any]) -> dict[str, Any]:
    """The object in the place of the live one, with what others own."""
    metadata = {**live["metadata"], **obj["metadata"]}
    for field in ("labels", "annotations"):
        kept = {**(live["metadata"].get(field) or {}), **(obj["metadata"].get(field) or {})}
        if kept:
            metadata[field] = kept
    over = {**obj, "metadata": metadata}
    if obj["kind"].endswith("WebhookConfiguration"):
        entries = {entry["name"]: entry for entry in live.get("webhooks") or ()}
        listed = obj["webhooks"] if "webhooks" in obj else [*entries.values()]
        over["webhooks"] = [_trusted(entry, entries.get(entry["name"], {})) for entry in listed]
    elif obj["kind"] == "Deployment" and "replicas" not in obj["spec"]:
        over["spec"] = {"replicas": live["spec"]["replicas"], **obj["spec"]}
    return over


def _trusted(entry: dict[str, Any], live: dict[str, Any]) -> dict[str, Any]:
    bundle = {key: value for key, value in (live.get("clientConfig") or {}).items() if key == "caBundle"}
    return {**entry, "clientConfig": {**bundle, **entry["clientConfig"]}}


def _shown(obj: dict[str, Any]) -> str:
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _OF_THE_SERVER}
    annotations = dict(metadata.pop("annotations", None) or {})
    annotations.pop(_LAST_APPLIED, None)
    if annotations:
        metadata["annotations"] = annotations
    shown = {key: obj[key] for key in sorted(obj) if key not in ("status", "metadata")}
    return text([{**shown, "metadata": metadata}])


def _collection(obj: dict[str, Any]) -> str:
    """The path of the collection that the object is in; gpugate's kinds form their plurals by one rule."""
    version, kind = obj["apiVersion"], obj["kind"].lower()
    plural = f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
    namespace = obj["metadata"].get("namespace")
    return f"/{'apis' if '/' in version else 'api'}/{version}{f'/namespaces/{namespace}' if namespace else ''}/{plural}"
