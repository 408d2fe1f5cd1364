"""Reports in the cluster: made, updated in place where findings have changed, taken away where there are none."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from app.cluster.client import Cluster
from app.cluster.errors import ClusterError, Conflict, Forbidden, NotFound
from app.manifests.scan_rbac import REPORTER
from app.report.openreport import MANAGED_BY, NAME, OPEN_REPORTS, POLICY_REPORTS, ReportKind, content, report
from app.report.snapshot import NamespaceState, ScanError, Snapshot

_PAGE: Final = 50
"""Reports a page: each may have half a megabyte."""

_OWNER: Final = f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{REPORTER}"


class NoReports(ClusterError):
    """The cluster knows no kind of report."""


@dataclass(slots=True)
class Written:
    """How many reports were made, changed, left alone and taken away, and what went wrong, by namespace."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0
    errors: list[ScanError] = field(default_factory=list)


class _Stored(NamedTuple):
    resource_version: str
    content: dict[str, Any]


def report_kind(cluster: Cluster) -> ReportKind:
    """The kind of report that the cluster has, OpenReports' before the older one; raises ClusterError."""
    for kind in (OPEN_REPORTS, POLICY_REPORTS):
        try:
            served = cluster.get(f"/apis/{kind.api_version}").get("resources") or []
        except NotFound:
            continue
        if any(each["name"] == kind.resource for each in served):
            return kind
    raise NoReports(
        f"{cluster.where} knows no kind of report: install the CustomResourceDefinitions of OpenReports "
        f"({OPEN_REPORTS.resource}.{OPEN_REPORTS.group}), or those of the Policy working group "
        f"({POLICY_REPORTS.resource}.{POLICY_REPORTS.group})"
    )


def write_reports(cluster: Cluster, snapshot: Snapshot, namespace: str | None = None) -> Written:
    """Bring the reports of all namespaces, or of one, in step with the snapshot.

    Where something could not be read, no report is taken away. Raises ClusterError if reports cannot be read at all.
    """
    kind, written = report_kind(cluster), Written()
    owner = _owner(cluster)
    wanted = {state.name: _made(kind, state, snapshot, owner) for state in snapshot.namespaces}
    for name, stored in _stored(cluster, kind, namespace):
        if name not in wanted:
            continue  # being deleted, or younger than the snapshot
        made = wanted.pop(name)
        with _Noted(written, name):
            if made is None and not snapshot.errors:
                cluster.delete(_path(kind, name))
                written.deleted += 1
            elif made is None or content(made) == stored.content:
                written.unchanged += 1
            else:
                _replace(cluster, kind, made, stored.resource_version)
                written.updated += 1
    for name, made in wanted.items():
        if made is not None:
            with _Noted(written, name):
                cluster.create(_collection(kind, name), made)
                written.created += 1
    return written


def _made(
    kind: ReportKind, state: NamespaceState, snapshot: Snapshot, owner: dict[str, Any] | None
) -> dict[str, Any] | None:
    # What is not about an object in some namespace is about all of them.
    errors = tuple(each for each in snapshot.errors if "/" not in each.where or each.where.startswith(f"{state.name}/"))
    made = report(kind, state, errors)
    if made is not None and owner is not None:
        made["metadata"]["ownerReferences"] = [owner]
    return made


def _stored(cluster: Cluster, kind: ReportKind, namespace: str | None) -> Iterator[tuple[str, _Stored]]:
    path = _collection(kind, namespace) if namespace else f"/apis/{kind.api_version}/{kind.resource}"
    for page in cluster.pages(path, limit=_PAGE, labelSelector=f"{MANAGED_BY}={NAME}"):
        for obj in page:
            metadata = obj["metadata"]
            if metadata["name"] == NAME:
                yield metadata["namespace"], _Stored(metadata["resourceVersion"], content(obj))


def _replace(cluster: Cluster, kind: ReportKind, made: dict[str, Any], resource_version: str) -> None:
    """Replace what was read; what somebody else has changed meanwhile is read again, once."""
    path = _path(kind, made["metadata"]["namespace"])
    metadata = made["metadata"]
    try:
        cluster.replace(path, {**made, "metadata": {**metadata, "resourceVersion": resource_version}})
    except Conflict:
        current = cluster.get(path)["metadata"]["resourceVersion"]
        cluster.replace(path, {**made, "metadata": {**metadata, "resourceVersion": current}})


def _owner(cluster: Cluster) -> dict[str, Any] | None:
    """The reference by which reports go when gpugate is uninstalled: to the role that lets it write them.

    Objects without a namespace may own those in one; the garbage collector takes these away. None where the role is not
    there, as when somebody writes reports by hand, or may not be seen.
    """
    try:
        found = cluster.get(_OWNER)["metadata"]
    except (NotFound, Forbidden):
        return None
    reference = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}
    return {**reference, "name": found["name"], "uid": found["uid"]}


def _collection(kind: ReportKind, namespace: str) -> str:
    return f"/apis/{kind.api_version}/namespaces/{namespace}/{kind.resource}"


def _path(kind: ReportKind, namespace: str) -> str:
    return f"{_collection(kind, namespace)}/{NAME}"


class _Noted:
    """Takes note of what goes wrong in one namespace, so that the others go on: it may have been deleted meanwhile."""

    def __init__(self, written: Written, namespace: str) -> None:
        self._written = written
        self._namespace = namespace

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, NotFound):
            return True  # the namespace, and with it the report
        if isinstance(error, ClusterError):
            self._written.errors.append(ScanError(self._namespace, str(error)))
            return True
        return False
