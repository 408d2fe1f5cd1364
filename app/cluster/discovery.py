"""Which resources of a cluster hold pods: the core kinds, and the custom ones that it has."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from app.cluster.client import Cluster


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


def resources(cluster: Cluster, kinds: Collection[tuple[str, str]]) -> list[Resource]:
    """The namespaced resources of these (group, kind)s that the cluster has, at one version each, the preferred one if
    it has the kind; sorted by group and kind. Raises ClusterError.
    """
    groups = {group for group, _ in kinds}
    found = {resource[:2]: resource for resource in _of_version(cluster, "", "/api/v1", kinds)} if "" in groups else {}
    for group in cluster.get("/apis").get("groups") or []:
        name = group["name"]
        missing = {kind for kind in kinds if kind[0] == name}
        for version in _versions(group) if missing else ():
            for resource in _of_version(cluster, name, f"/apis/{version}", missing):
                found[resource[:2]] = resource
            missing -= found.keys()
            if not missing:
                break
    return sorted(found.values())


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
