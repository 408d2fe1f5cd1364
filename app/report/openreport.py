"""Reports of the Policy working group's formats, which Policy Reporter and `kubectl get` read: one object a namespace.

`openreports.io/v1alpha1 Report` and `wgpolicyk8s.io/v1alpha2 PolicyReport` are alike but for the name of the kind and
the ``source`` of the whole. A report says what `enforce` would say, whatever the namespace's mode; it holds no time, so
that it changes only when findings do.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import orjson

from app.model.words import counted
from app.report.snapshot import NamespaceState, ScanError, SnapshotFinding, Workload

NAME: Final = "gpugate"
MANAGED_BY: Final = "app.kubernetes.io/managed-by"
LABELS: Final = {MANAGED_BY: NAME, "app.kubernetes.io/name": NAME, "app.kubernetes.io/component": "report"}
LEFT_OUT: Final = "gpugate.dev/left-out"
"""The annotation with the number of results that had no place."""

MAX_RESULTS: Final = 1000
MAX_BYTES: Final = 512 * 1024
"""Of the results as JSON. etcd takes objects of 1.5 MiB, and stores every change of one whole."""
_MAX_TEXT: Final = 1024

_RESULTS: Final = {"deny": "fail", "warn": "warn", "audit": "warn"}
_SEVERITIES: Final = {"deny": "high", "warn": "medium", "audit": "low"}


class ReportKind(NamedTuple):
    """A kind of report, its resource, and whether it names its source."""

    api_version: str
    kind: str
    resource: str
    has_source: bool

    @property
    def group(self) -> str:
        """The API group."""
        return self.api_version.partition("/")[0]


OPEN_REPORTS: Final = ReportKind("openreports.io/v1alpha1", "Report", "reports", has_source=True)
POLICY_REPORTS: Final = ReportKind("wgpolicyk8s.io/v1alpha2", "PolicyReport", "policyreports", has_source=False)


def report(kind: ReportKind, state: NamespaceState, errors: tuple[ScanError, ...] = ()) -> dict[str, Any] | None:
    """The report on a namespace; None where there is nothing to report, or nobody wants it: in mode `disabled`.

    ``errors`` are of what could not be read there: they are counted, for what is missing may be wrong too.
    """
    if state.mode == "disabled":
        return None
    found = sorted(_findings(state), key=lambda each: (_rank(each[1]), each[0].kind, each[0].name, each[1].pointer))
    if not found:
        return None
    kept = list(_bounded([_result(state.name, workload, finding) for workload, finding in found]))
    left_out = len(found) - len(kept)
    outcomes = [_RESULTS[finding.outcome] for _, finding in found]
    summary = {
        "pass": sum(not (each.exempt or _violations(each)) for each in state.workloads),
        "fail": outcomes.count("fail"),
        "warn": outcomes.count("warn"),
        "error": len(errors),
        "skip": sum(each.exempt is not None for each in state.workloads),
    }
    metadata: dict[str, Any] = {"name": NAME, "namespace": state.name, "labels": dict(LABELS)}
    if left_out:
        metadata["annotations"] = {LEFT_OUT: str(left_out)}
    made = {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": metadata,
        "scope": {"apiVersion": "v1", "kind": "Namespace", "name": state.name},
        "summary": summary,
        "results": [*kept, _rest(state.name, left_out)] if left_out else kept,
    }
    return {**made, "source": NAME} if kind.has_source else made


def content(stored: dict[str, Any]) -> dict[str, Any]:
    """What of a report is gpugate's: two reports with the same need no update."""
    metadata = stored.get("metadata") or {}
    kept = {key: stored.get(key) for key in ("source", "scope", "summary", "results")}
    labels = {key: (metadata.get("labels") or {}).get(key) for key in LABELS}
    owners = [each.get("uid") for each in metadata.get("ownerReferences") or ()]
    return {**kept, "labels": labels, "owners": owners, "leftOut": (metadata.get("annotations") or {}).get(LEFT_OUT)}


def _findings(state: NamespaceState) -> Iterator[tuple[Workload, SnapshotFinding]]:
    for workload in state.workloads:
        for finding in _violations(workload):
            yield workload, finding


def _violations(workload: Workload) -> list[SnapshotFinding]:
    return [finding for finding in workload.findings if finding.outcome in _RESULTS]


def _rank(finding: SnapshotFinding) -> int:
    return list(_RESULTS).index(finding.outcome)


def _result(namespace: str, workload: Workload, finding: SnapshotFinding) -> dict[str, Any]:
    where = {"container": finding.container, "pointer": finding.pointer, "help": finding.help}
    return {
        "source": NAME,
        "policy": finding.policy,
        "rule": finding.rule,
        "category": "GPU",
        "result": _RESULTS[finding.outcome],
        "severity": _SEVERITIES[finding.outcome],
        "message": finding.message[:_MAX_TEXT],
        "scored": finding.outcome == "deny",
        "resources": [
            {
                "apiVersion": workload.api_version,
                "kind": workload.kind,
                "namespace": namespace,
                "name": workload.name,
            }
        ],
        "properties": {key: value[:_MAX_TEXT] for key, value in where.items() if value},
    }


def _bounded(results: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """As many results as have a place."""
    size = 0
    for result in results[:MAX_RESULTS]:
        size += len(orjson.dumps(result)) + 1
        if size > MAX_BYTES:
            return
        yield result


def _rest(namespace: str, left_out: int) -> dict[str, Any]:
    """The last result of a report that was cut, which says so."""
    more = counted(left_out, "more finding")
    return {
        "source": NAME,
        "policy": NAME,
        "rule": "left-out",
        "result": "skip",
        "message": f"{more} had no place here, the least severe ones: gpugate scan --mode enforce -n {namespace}",
        "scored": False,
    }
