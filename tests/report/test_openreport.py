"""Reports of a namespace: what counts as what, and how much has a place."""

from dataclasses import replace
from typing import Any

import orjson

from app.report.openreport import (
    LEFT_OUT,
    MAX_BYTES,
    MAX_RESULTS,
    OPEN_REPORTS,
    POLICY_REPORTS,
    content,
    report,
)
from app.report.snapshot import NamespaceState, ScanError, SnapshotFinding, Workload

DENY = SnapshotFinding(
    "gpu-pods", "no-privileged", "deny", "container", "main", "/spec/containers/0", "is privileged", "ask us"
)
WARN = replace(DENY, rule="no-gpu-bypass", outcome="warn", message="bypasses", container=None, help=None)
AUDIT = replace(WARN, rule="max-gpus", outcome="audit")
CHANGE = replace(DENY, rule="gpu-nodes", outcome="inject")


def workload(name: str, *findings: SnapshotFinding, **fields: Any) -> Workload:
    made = Workload("v1", "Pod", name, "/spec", 1, True, None, "refused", findings, ())
    return replace(made, **fields)


def namespace(*workloads: Workload, **fields: Any) -> NamespaceState:
    made = NamespaceState("team-a", "audit", "default", None, True, "warn", False, workloads, ())
    return replace(made, **fields)


def made(state: NamespaceState, *errors: ScanError) -> dict[str, Any]:
    found = report(OPEN_REPORTS, state, errors)
    assert found is not None
    return found


def test_results_and_summary() -> None:
    state = namespace(
        workload("good", CHANGE, state="changed"),
        workload("mixed", WARN, CHANGE, AUDIT),
        workload("bad", DENY),
        workload("dcgm", exempt="pod"),
    )
    found = made(state, ScanError("team-a/RayCluster/x", "broken"))
    assert found["summary"] == {"pass": 1, "fail": 1, "warn": 2, "error": 1, "skip": 1}
    assert [(each["rule"], each["result"], each["severity"]) for each in found["results"]] == [
        ("no-privileged", "fail", "high"),
        ("no-gpu-bypass", "warn", "medium"),
        ("max-gpus", "warn", "low"),
    ]
    assert found["results"][0] == {
        "source": "gpugate",
        "policy": "gpu-pods",
        "rule": "no-privileged",
        "category": "GPU",
        "result": "fail",
        "severity": "high",
        "message": "is privileged",
        "scored": True,
        "resources": [{"apiVersion": "v1", "kind": "Pod", "namespace": "team-a", "name": "bad"}],
        "properties": {"container": "main", "pointer": "/spec/containers/0", "help": "ask us"},
    }
    assert found["scope"] == {"apiVersion": "v1", "kind": "Namespace", "name": "team-a"}
    assert found["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "gpugate"


def test_the_two_kinds() -> None:
    state = namespace(workload("bad", DENY))
    assert (made(state)["apiVersion"], made(state)["kind"]) == ("openreports.io/v1alpha1", "Report")
    assert made(state)["source"] == "gpugate"
    older = report(POLICY_REPORTS, state)
    assert older is not None
    assert (older["apiVersion"], older["kind"]) == ("wgpolicyk8s.io/v1alpha2", "PolicyReport")
    assert "source" not in older


def test_nothing_to_report() -> None:
    assert report(OPEN_REPORTS, namespace()) is None
    assert report(OPEN_REPORTS, namespace(workload("good", CHANGE, state="changed"))) is None
    assert report(OPEN_REPORTS, namespace(workload("bad", DENY), mode="disabled")) is None


def test_5000_findings_are_cut_and_it_says_so() -> None:
    findings = [replace(DENY if number % 5 == 0 else WARN, pointer=f"/spec/{number}") for number in range(5000)]
    state = namespace(*(workload(f"pod-{number:04}", finding) for number, finding in enumerate(findings)))
    found = made(state)
    assert found["summary"]["fail"] == 1000
    assert found["summary"]["warn"] == 4000
    assert len(found["results"]) == MAX_RESULTS + 1
    assert {each["result"] for each in found["results"][:-1]} == {"fail"}  # the most severe ones
    assert found["results"][-1]["result"] == "skip"
    assert found["results"][-1]["message"].startswith("4000 more findings had no place here")
    assert found["metadata"]["annotations"] == {LEFT_OUT: "4000"}


def test_long_texts_do_not_make_it_large() -> None:
    long = replace(DENY, message="m" * 100_000, help="h" * 100_000)
    state = namespace(*(workload(f"pod-{number:03}", long) for number in range(900)))
    found = made(state)
    assert len(orjson.dumps(found["results"])) < MAX_BYTES + 1000
    assert 100 < len(found["results"]) < 900
    assert found["metadata"]["annotations"][LEFT_OUT] == str(900 - len(found["results"]) + 1)


def test_what_makes_a_report_another_one() -> None:
    one, same = made(namespace(workload("a", DENY))), made(namespace(workload("a", DENY)))
    stored = {**same, "metadata": {**same["metadata"], "resourceVersion": "7", "uid": "u", "managedFields": []}}
    assert content(one) == content(stored)
    assert content(one) != content(made(namespace(workload("b", DENY))))
    stripped = {**stored, "metadata": {**stored["metadata"], "labels": {}}}
    assert content(one) != content(stripped)
