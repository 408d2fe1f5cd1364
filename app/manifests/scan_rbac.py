"""The rights of `gpugate scan`: to read what holds pods, and with --report to write reports.

Two ClusterRoles: the first is also what people need for `gpugate scan`, `modes status`, `modes plan` and `board`.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from app.manifests.metadata import metadata
from app.manifests.rbac import Right, binding, role
from app.workloads.custom import CUSTOM_KINDS
from app.workloads.kinds import CORE_KINDS

SCANNER: Final = "gpugate-scan"
"""The ServiceAccount, the CronJob, and the ClusterRole that only reads."""

REPORTER: Final = "gpugate-reports"
"""The ClusterRole that writes reports, and owns them: they go with it."""

_LIST: Final = ("list",)

READ_RIGHTS: Final = (
    Right("", ("namespaces",), ("get", "list"), (), "the namespaces and their modes; needed"),
    Right("node.k8s.io", ("runtimeclasses",), _LIST, (), "which runtime classes exist; else it is not known"),
    Right("resource.k8s.io", ("resourceclaimtemplates",), _LIST, (), "what claims are for; else it is not known"),
)
REPORT_RIGHTS: Final = (
    *(
        Right(group, resources, ("create", "delete", "list", "get", "update"), (), "the reports")
        for group, resources in (("openreports.io", ("reports",)), ("wgpolicyk8s.io", ("policyreports",)))
    ),
    Right(
        "rbac.authorization.k8s.io",
        ("clusterroles",),
        ("get",),
        (REPORTER,),
        "make this role the reports' owner, so that they go with it; else they stay when gpugate is uninstalled",
    ),
)


def workload_rights(added: Iterable[str] = ()) -> Iterator[Right]:
    """To list every kind that holds pods, and the resources that a policy adds: ``jobs.example.com``."""
    groups: dict[str, set[str]] = {}
    for group, kind in (*CORE_KINDS, *CUSTOM_KINDS):
        groups.setdefault(group, set()).add(_plural(kind))
    for resource in added:
        plural, _, group = resource.partition(".")
        groups.setdefault(group, set()).add(plural)
    for group in sorted(groups):
        yield Right(group, tuple(sorted(groups[group])), _LIST, (), "judge what holds pods; else it is left out")


def scan_rbac(namespace: str, added: Iterable[str] = ()) -> list[dict[str, Any]]:
    """ServiceAccount, the two ClusterRoles and their bindings, for a scan in this namespace."""
    made: list[dict[str, Any]] = [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata(SCANNER, "scan", namespace=namespace)}
    ]
    for name, rights in ((SCANNER, (*READ_RIGHTS, *workload_rights(added))), (REPORTER, REPORT_RIGHTS)):
        meta = metadata(name, "scan")
        made += [role("ClusterRole", meta, rights), binding("ClusterRole", meta, SCANNER, namespace)]
    return made


def _plural(kind: str) -> str:
    """The resource of a kind, as generators of CustomResourceDefinitions name it. None of the kinds here is special."""
    return f"{kind.lower()}s"
