"""The table of kinds, and who is in it."""

from typing import Any

import orjson
import pytest

from app.policy.kinds import kinds_of
from app.policy.load import load
from app.workloads.custom import CUSTOM_KINDS
from app.workloads.kinds import CORE_KINDS, Kind, group_kind


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        ({"apiVersion": "v1", "kind": "Pod"}, ("", "Pod")),
        ({"apiVersion": "apps/v1", "kind": "Deployment"}, ("apps", "Deployment")),
        ({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job"}, ("batch.volcano.sh", "Job")),
        ({"apiVersion": "v2", "kind": "Pod"}, None),
        ({"apiVersion": "metrics.k8s.io/v1", "kind": "Pod"}, ("metrics.k8s.io", "Pod")),
        ({"kind": "Pod"}, None),
        ({"apiVersion": "v1"}, None),
        ({"apiVersion": 1, "kind": "Pod"}, None),
        ({"apiVersion": "v1", "kind": ["Pod"]}, None),
    ],
)
def test_a_kind_is_known_by_its_group(obj: dict[str, Any], expected: tuple[str, str] | None) -> None:
    assert group_kind(obj) == expected


def test_the_api_server_validates_every_template_but_a_pod_is_none() -> None:
    assert {kind for (_, kind), data in CORE_KINDS.items() if not data.validated} == {"Pod"}
    assert {kind for (_, kind), data in CORE_KINDS.items() if data.daemonset} == {"DaemonSet"}


def test_a_policy_describes_kinds_anew_but_not_those_of_kubernetes() -> None:
    kinds = [
        {"resource": "rayclusters.ray.io", "kind": "RayCluster", "paths": ["/spec/a"]},
        {"resource": "deployments.apps", "kind": "Deployment", "paths": ["/spec/b"]},
        {"resource": "rockets.example.com", "kind": "Rocket", "paths": ["/spec/c"], "creates": "workloads"},
    ]
    policy = {"apiVersion": "gpugate.dev/v1alpha1", "kind": "GpuPolicy", "metadata": {"name": "p"}}
    found = kinds_of(load([("p.json", orjson.dumps({**policy, "spec": {"workloads": {"kinds": kinds}}}))]))
    assert found["ray.io", "RayCluster"] == Kind(("/spec/a",))
    assert found["apps", "Deployment"] is CORE_KINDS["apps", "Deployment"]
    assert found["example.com", "Rocket"] == Kind(("/spec/c",), validated=True)
    assert found["jobset.x-k8s.io", "JobSet"] is CUSTOM_KINDS["jobset.x-k8s.io", "JobSet"]
