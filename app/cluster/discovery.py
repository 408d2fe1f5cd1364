"""Which resources of a cluster hold pods: the core kinds, and the custom ones that it has."""

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
