"""A cluster of many tenants: 40 namespaces, 400 workloads, 2,000 pods, made in parallel."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

from tests.controlplane import ControlPlane
from tests.support.cluster import MODE_LABEL
from tests.support.workloads import (
    BAD,
    CPU,
    GOOD,
    PATHS,
    create,
    cron_job,
    custom_resource,
    deployment,
    job,
    pod,
    privileged,
    ray_cluster,
)

NAMESPACES: Final = 40
WORKLOADS: Final = 10
"""A namespace's."""
PODS: Final = 50
"""A namespace's; the last ten belong to nobody."""

_LABELS: Final = (None, "audit", "warn", "assist", "enforce", "strict")
_THREADS: Final = 8
_UNSCHEDULED: Final = {"schedulerName": "nobody"}
"""Trying to place 2,000 pods would take the scheduler longer than everything else."""


@dataclass
class Expected:
    """What a namespace holds, counted as it was made."""

    label: str | None
    gpu: int = 0
    refused: int = 0
    changed: int = 0
    pods: int = 0
    names: set[str] = field(default_factory=set)

    def add(self, kind: str, name: str, spec: dict[str, Any], pods: int) -> None:
        gpu, bad = "limits" in spec["containers"][0]["resources"], "securityContext" in spec["containers"][0]
        self.names.add(f"{kind}/{name}")
        self.gpu += gpu
        self.refused += gpu and bad
        self.changed += gpu and not bad
        self.pods += pods


@dataclass
class Population:
    """By namespace."""

    namespaces: dict[str, Expected]

    def total(self, count: Callable[[Expected], int]) -> int:
        return sum(map(count, self.namespaces.values()))


def populate(plane: ControlPlane) -> Population:
    """Make everything; the same every time."""
    custom_resource(plane, "ray.io", "v1", "RayCluster", "rayclusters")
    with ThreadPoolExecutor(_THREADS) as pool:
        made = pool.map(lambda number: _namespace(plane, number), range(NAMESPACES))
        return Population(dict(made))


def _namespace(plane: ControlPlane, number: int) -> tuple[str, Expected]:
    label = _LABELS[number % len(_LABELS)]
    name = plane.namespace(f"tenant-{number:02}", {MODE_LABEL: label} if label else {})
    expected = Expected(label)
    specs = [CPU, GOOD, BAD if number % 4 == 0 else GOOD, privileged(CPU)]
    for index, obj in enumerate(_workloads(specs)):
        (stored,) = create(plane, name, obj)
        # Of kinds that have no controller here, so that nobody makes or takes away pods.
        pods = 8 if obj["kind"] == "RayCluster" else 0
        spec = specs[index % len(specs)]
        expected.add(obj["kind"], obj["metadata"]["name"], spec, pods)
        create(plane, name, *(_pod(f"{stored['metadata']['name']}-{each}", spec, stored) for each in range(pods)))
    for each in range(PODS - expected.pods):
        spec = specs[each % len(specs)]
        expected.add("Pod", f"bare-{each}", spec, 1)
        create(plane, name, _pod(f"bare-{each}", spec, None))
    return name, expected


def _workloads(specs: list[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    for index in range(WORKLOADS):
        name, spec = f"work-{index}", specs[index % len(specs)]
        if index < 5:
            yield ray_cluster(name, spec)
        elif index < 8:
            yield deployment(name, spec, replicas=0)
        else:
            yield cron_job(name, spec) if index == 8 else job(name, spec, suspend=True)


def _pod(name: str, spec: dict[str, Any], owner: dict[str, Any] | None) -> dict[str, Any]:
    return pod(name, {**spec, **_UNSCHEDULED}, owner)


def listed(plane: ControlPlane, kind: str) -> int:
    """How many objects of a kind there are in the namespaces of tenants."""
    path = PATHS[kind].replace("/namespaces/{}", "")
    items = plane.client().get(path).expect(200)["items"]
    return sum(item["metadata"]["namespace"].startswith("tenant-") for item in items)
