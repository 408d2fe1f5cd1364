"""Where the API of a cluster has objects: those that hold pods, and any that is given."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from app.cluster.client import Cluster
from app.cluster.errors import ClusterError, Forbidden, NotFound, Unavailable


class Resource(NamedTuple):
    """A namespaced resource: ``base`` is the path of its group and version, ``/apis/apps/v1``."""

    group: str
    kind: str
    plural: str
    base: str

    def path(self, namespace: str | None) -> str:
        """The path of its objects, in all namespaces for None."""
        return f"{self.base}/namespaces/{namespace}/{self.plural}" if namespace else f"{self.base}/{self.plural}"

    @property
    def title(self) -> str:
        """As kubectl takes it: ``deployments.apps``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


def resources(cluster: Cluster, kinds: Collection[tuple[str, str]]) -> tuple[list[Resource], list[ClusterError]]:
    """The namespaced resources of these (group, kind)s that the cluster has, at one version each, the preferred one if
    it has the kind; sorted by group and kind. And why groups could not be looked into.

    Raises ClusterError if the cluster does not say which groups it has.
    """
    found: dict[tuple[str, str], Resource] = {}
    errors: list[ClusterError] = []
    core = {"name": "", "versions": [{"groupVersion": "v1"}]}
    for group in [core, *(cluster.get("/apis").get("groups") or [])]:
        missing = {kind for kind in kinds if kind[0] == group["name"]}
        for version in _versions(group) if missing else ():
            base = f"/apis/{version}" if group["name"] else f"/api/{version}"
            try:
                found.update({each[:2]: each for each in _of_version(cluster, group["name"], base, missing)})
            except NotFound:
                continue  # gone since the list of groups
            except (Unavailable, Forbidden) as error:
                errors.append(error)
                break
            missing -= found.keys()
            if not missing:
                break
    return sorted(found.values()), errors


def _versions(group: dict[str, Any]) -> Iterable[str]:
    """``apps/v1`` and so on, the preferred one first."""
    preferred = (group.get("preferredVersion") or {}).get("groupVersion")
    versions = [each["groupVersion"] for each in group.get("versions") or []]
    return sorted(versions, key=lambda version: version != preferred)


def _of_version(cluster: Cluster, group: str, base: str, kinds: Collection[tuple[str, str]]) -> Iterator[Resource]:
    for each in cluster.get(base).get("resources") or []:
        listed = each.get("namespaced") and "/" not in each["name"] and "list" in (each.get("verbs") or [])
        if listed and (group, each["kind"]) in kinds:
            yield Resource(group, each["kind"], each["name"], base)


class Paths:
    """The paths of objects. Each group and version is asked for once."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._known: dict[str, list[dict[str, Any]]] = {}

    def of(self, each: dict[str, Any]) -> str:
        """The path of the object with this apiVersion, kind, name and, if it is namespaced, namespace.

        Raises ClusterError, NotFound if the cluster does not have the kind.
        """
        version, kind, metadata = each["apiVersion"], each["kind"], each["metadata"]
        base = f"/apis/{version}" if "/" in version else f"/api/{version}"
        for resource in self._resources(base):
            if resource["kind"] == kind and "/" not in resource["name"]:
                inside = f"/namespaces/{metadata['namespace']}" if resource.get("namespaced") else ""
                return f"{base}{inside}/{resource['name']}/{metadata['name']}"
        raise NotFound(f"{self._cluster.where} has no kind {kind} of {version}")

    def _resources(self, base: str) -> list[dict[str, Any]]:
        if base not in self._known:
            try:
                self._known[base] = self._cluster.get(base).get("resources") or []
            except NotFound:
                self._known[base] = []
        return self._known[base]
