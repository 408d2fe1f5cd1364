"""A cluster of 40 namespaces, 400 workloads and 2,000 pods: the scan is complete, small and paginated, and modes status
counts what was counted as it was made."""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from app.cluster.client import Cluster
from app.cluster.scan import Scan
from app.policy.compiled import Mode
from app.report.snapshot import Snapshot
from app.sources.policies import read_policy
from tests.controlplane import ControlPlane
from tests.support.apiproxy import api_proxy
from tests.support.cluster import nvidia_runtime_class
from tests.support.memory import Finished, measured
from tests.support.population import NAMESPACES, PODS, WORKLOADS, Expected, Population, listed, populate

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 12, 2, 10, tzinfo=UTC)
MOST_MEGABYTES = 150
MODES: dict[str | None, Mode] = {"warn": "warn", "assist": "assist", "enforce": "enforce"}


@pytest.fixture(scope="module")
def plane(own_control_plane: ControlPlane) -> ControlPlane:
    nvidia_runtime_class(own_control_plane)
    return own_control_plane


@pytest.fixture(scope="module")
def population(plane: ControlPlane) -> Population:
    return populate(plane)


def run(plane: ControlPlane, *arguments: str) -> Finished:
    """Run gpugate on the cluster."""
    return measured(*arguments, "--policy", "shipped", "--kubeconfig", str(plane.kubeconfig))


def test_there_is_what_there_should_be(plane: ControlPlane, population: Population) -> None:
    assert len(population.namespaces) == NAMESPACES == 40
    made = sum(listed(plane, kind) for kind in ("RayCluster", "Deployment", "CronJob", "Job"))
    assert made == NAMESPACES * WORKLOADS == 400
    assert listed(plane, "Pod") == NAMESPACES * PODS == population.total(lambda each: each.pods) == 2000


def test_the_scan_is_complete_and_small(plane: ControlPlane, population: Population, tmp_path: Path) -> None:
    found, seen = tmp_path / "found.json", tmp_path / "seen.json"
    outputs = ("-o", f"json={found}", "-o", f"snapshot={seen}")
    done = run(plane, "scan", "--mode", "enforce", *outputs)
    assert done.code == 1, done.err
    assert done.peak <= MOST_MEGABYTES
    report = json.loads(found.read_bytes())
    names: dict[str, set[str]] = {name: set() for name in population.namespaces}
    for each in report["pods"]:
        if each["namespace"] in names:
            names[each["namespace"]].add(f"{each['kind']}/{each['name']}")
    assert names == {name: expected.names for name, expected in population.namespaces.items()}
    assert report["errors"] == []
    assert report["summary"]["refused"] == population.total(lambda each: each.refused)
    assert report["summary"]["changed"] == population.total(lambda each: each.changed)

    snapshot = Snapshot.from_json(seen.read_bytes())
    pods = Counter[str]()
    for state in snapshot.namespaces:
        if state.name in population.namespaces:
            pods[state.name] = sum(workload.pods for workload in state.workloads)
    assert pods == Counter({name: gpu_pods(expected) for name, expected in population.namespaces.items()})


def gpu_pods(expected: Expected) -> int:
    """Of the five RayClusters with eight pods each, and of the ten pods of nobody, every second and third asks for
    GPUs: two of four specs, the first of five being one without."""
    rays = 8 * sum(index % 4 in (1, 2) for index in range(5))
    return rays + sum(index % 4 in (1, 2) for index in range(PODS - 40))


def test_lists_come_in_pages_and_nothing_is_asked_twice(
    plane: ControlPlane, population: Population, tmp_path: Path
) -> None:
    with api_proxy(plane) as proxy:
        cluster = Cluster.connect(kubeconfig=str(proxy.kubeconfig(tmp_path)))
        scan = Scan(cluster, read_policy("shipped"), NOW.date())
        for _ in scan.objects():
            pass
        requests = [request.partition(" ") for request in proxy.requests]
    assert cluster.calls == len(requests) == len({path for _, _, path in requests})
    assert {method for method, _, _ in requests} == {"GET"}
    lists: dict[str, list[dict[str, Any]]] = {}
    for _, _, path in requests:
        parts = urlsplit(path)
        if query := parse_qs(parts.query):
            lists.setdefault(parts.path, []).append(query)
    assert {query["limit"][0] for queries in lists.values() for query in queries} == {"500"}
    assert len(lists["/api/v1/pods"]) == 4  # 2,000 pods
    assert sum("continue" in query for query in lists["/api/v1/pods"]) == 3
    assert all(len(queries) == 1 for path, queries in lists.items() if path != "/api/v1/pods")
    assert len(requests) < 30


def test_modes_status_counts_the_same(plane: ControlPlane, population: Population, tmp_path: Path) -> None:
    seen = tmp_path / "seen.json"
    assert run(plane, "scan", "--fail-on", "none", "-o", f"snapshot={seen}").code == 0
    live = status(plane)
    assert live == status(plane, "--snapshot", str(seen))
    assert {name: found for name, found in live.items() if name in population.namespaces} == {
        name: {
            "name": name,
            "mode": MODES.get(expected.label, "audit"),
            "source": "label" if expected.label not in (None, "strict") else "default",
            "label": expected.label,
            "labelValid": expected.label != "strict",
            "next": {"audit": "warn", "warn": "assist", "assist": "enforce", "enforce": None}[
                MODES.get(expected.label, "audit")
            ],
            "exempt": False,
            "workloads": {
                "gpu": expected.gpu,
                "exempt": 0,
                "refused": expected.refused,
                "changed": expected.changed,
                "warned": 0,
                "ready": 0,
            },
            "exceptionsEnding": [],
        }
        for name, expected in population.namespaces.items()
    }


def status(plane: ControlPlane, *arguments: str) -> dict[str, Any]:
    done = run(plane, "modes", "status", "-o", "json", *arguments)
    assert done.code == 0, done.err
    return {each["name"]: each for each in json.loads(done.out)["namespaces"]}
