"""The file that a scan leaves: what is written can be read, and nothing else."""

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import orjson
import pytest

from app.report.snapshot import (
    ClusterId,
    ExceptionInForce,
    InvalidSnapshot,
    NamespaceState,
    PolicyId,
    ScanError,
    Snapshot,
    SnapshotFinding,
    Workload,
)

FINDING = SnapshotFinding(
    "gpu-pods", "no-privileged", "deny", "container", "main", "/spec/containers/0", "is privileged", None
)
POD = Workload(
    api_version="v1",
    kind="Pod",
    name="train",
    template="/spec",
    pods=1,
    gpu=True,
    exempt=None,
    state="refused",
    findings=(FINDING,),
    patch=({"op": "add", "path": "/spec/runtimeClassName", "value": "nvidia"},),
)
NAMESPACE = NamespaceState(
    name="team-a",
    mode="audit",
    source="label",
    label="audit",
    label_valid=True,
    next="warn",
    exempt=False,
    workloads=(POD, replace(POD, name="dcgm", exempt="pod", state="ready", findings=(), patch=())),
    exceptions=(ExceptionInForce("mesh", "no-privileged", date(2027, 1, 31), "mesh@example.com", "INC-1"),),
)
SNAPSHOT = Snapshot(
    taken_at=datetime(2026, 12, 2, 10, tzinfo=UTC),
    cluster=ClusterId("prod", "https://10.0.0.1:6443"),
    policies=(PolicyId("gpu-pods", "sha256:00"),),
    namespaces=(NAMESPACE,),
    errors=(ScanError("team-a/RayCluster/x", "no map"),),
)


def as_json() -> dict[str, Any]:
    content: dict[str, Any] = orjson.loads(SNAPSHOT.to_json())
    return content


def test_what_is_written_is_read() -> None:
    assert Snapshot.from_json(SNAPSHOT.to_json()) == SNAPSHOT


def test_the_shape() -> None:
    written = as_json()
    assert list(written) == ["version", "takenAt", "cluster", "policies", "namespaces", "errors"]
    assert written["version"] == 1
    assert written["takenAt"] == "2026-12-02T10:00:00Z"
    assert written["cluster"] == {"context": "prod", "server": "https://10.0.0.1:6443"}
    assert written["policies"] == [{"name": "gpu-pods", "digest": "sha256:00"}]
    assert written["errors"] == [{"where": "team-a/RayCluster/x", "message": "no map"}]
    namespace = written["namespaces"][0]
    assert {key: namespace[key] for key in list(namespace)[:7]} == {
        "name": "team-a",
        "mode": "audit",
        "source": "label",
        "label": "audit",
        "labelValid": True,
        "next": "warn",
        "exempt": False,
    }
    assert list(namespace)[7:] == ["workloads", "exceptions"]
    assert namespace["workloads"][0] == {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": "train",
        "template": "/spec",
        "pods": 1,
        "gpu": True,
        "exempt": None,
        "state": "refused",
        "findings": [
            {
                "policy": "gpu-pods",
                "rule": "no-privileged",
                "outcome": "deny",
                "containerKind": "container",
                "container": "main",
                "pointer": "/spec/containers/0",
                "message": "is privileged",
                "help": None,
            }
        ],
        "patch": [{"op": "add", "path": "/spec/runtimeClassName", "value": "nvidia"}],
    }
    assert namespace["exceptions"] == [
        {
            "name": "mesh",
            "rule": "no-privileged",
            "until": "2027-01-31",
            "owner": "mesh@example.com",
            "reason": "INC-1",
        }
    ]


@pytest.mark.parametrize("content", [b"", b"nothing", b"[1]", b"null", b'{"version":1}', b"\xff\xfe"])
def test_another_file(content: bytes) -> None:
    with pytest.raises(InvalidSnapshot) as caught:
        Snapshot.from_json(content)
    assert "\n" not in str(caught.value)


def test_another_version() -> None:
    later = {**as_json(), "version": 2, "clusters": []}
    with pytest.raises(InvalidSnapshot, match=r"^/version: this gpugate reads version 1, found 2$"):
        Snapshot.from_json(orjson.dumps(later))


@pytest.mark.parametrize(
    ("pointer", "value", "said"),
    [
        ("/namespaces/0/mode", "off", r"^/namespaces/0/mode: Input should be 'disabled', .*, found 'off'$"),
        ("/namespaces/0/workloads/0/state", "good", r"^/namespaces/0/workloads/0/state: Input should be 'ready'"),
        ("/namespaces/0/workloads/0/pods", "1", r"/pods: Input should be a valid integer, found '1'$"),
        ("/namespaces/0/workloads/0/gpu", 1, r"/gpu: Input should be a valid boolean, found 1$"),
        ("/namespaces/0/workloads/0/findings/0/outcome", "fail", r"/findings/0/outcome: Input should be 'deny'"),
        ("/namespaces/0/exceptions/0/until", "soon", r"/until: Input should be a valid date"),
        ("/namespaces/0/surprise", 1, r"^/namespaces/0/surprise: Unexpected keyword argument, found 1$"),
        ("/takenAt", "2026-12-02T10:00:00", r"^/takenAt: Input should have timezone info"),
        ("/cluster/context", 5, r"^/cluster/context: Input should be a valid string, found 5$"),
    ],
)
def test_a_value_that_means_nothing(pointer: str, value: Any, said: str) -> None:
    content = as_json()
    *steps, last = pointer[1:].split("/")
    at: Any = content
    for step in steps:
        at = at[int(step) if isinstance(at, list) else step]
    at[last] = value
    with pytest.raises(InvalidSnapshot, match=said):
        Snapshot.from_json(orjson.dumps(content))


def test_a_key_that_is_missing() -> None:
    content = as_json()
    del content["namespaces"][0]["labelValid"]
    with pytest.raises(InvalidSnapshot, match=r"^/namespaces/0/labelValid: Field required$"):
        Snapshot.from_json(orjson.dumps(content))


def test_names_of_fields_are_those_of_the_file() -> None:
    content = as_json()
    content["namespaces"][0]["label_valid"] = content["namespaces"][0].pop("labelValid")
    with pytest.raises(InvalidSnapshot):
        Snapshot.from_json(orjson.dumps(content))
