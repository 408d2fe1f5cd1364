"""Pods that run already, as `kubectl get pods -o yaml` prints them."""

from typing import Any

import pytest

from app.engine import decide
from app.model.context import Context
from app.model.pod import Pod
from app.workloads.kinds import CORE_KINDS
from app.workloads.templates import templates
from tests.policy.documents import policy

RESERVED = "rules: [{rule: gpu-nodes-reserved, with: {taintKeys: [nvidia.com/gpu]}}]"
BOUND = {"conditions": [{"type": "PodScheduled", "status": "True"}]}


def pod(status: Any) -> dict[str, Any]:
    spec = {"nodeName": "node-3", "containers": [{"name": "api", "image": "registry.example.com/api:1"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "api"}, "spec": spec, "status": status}


@pytest.mark.parametrize(
    ("status", "found"),
    [
        (BOUND, 0),
        ({}, 1),
        (None, 1),
        ("Running", 1),
        ({"conditions": "all"}, 1),
        ({"conditions": [None, {"type": "PodScheduled", "status": "False"}]}, 1),
    ],
)
def test_a_node_that_the_scheduler_chose_is_no_fault(status: Any, found: int) -> None:
    obj = pod(status)
    (template,) = templates(obj, CORE_KINDS)
    for view in (Pod.of(obj), template.pod()):
        assert len(decide(policy(RESERVED), view, Context("team")).findings) == found
