"""The table of kinds, and who is in it."""

from typing import Any

import pytest

from app.workloads.kinds import CORE_KINDS, group_kind


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
