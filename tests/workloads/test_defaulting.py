"""The API server's defaults, and what must not change with them."""

from copy import deepcopy
from typing import Any

import jsonpatch
import pytest

from app.engine import decide
from app.model.context import Context
from app.model.pod import Pod
from app.sources.policies import read_policy
from app.workloads.defaulting import defaulted
from app.workloads.kinds import CORE_KINDS
from app.workloads.templates import templates

GPU = "nvidia.com/gpu"


def container(**resources: Any) -> dict[str, Any]:
    return {"name": "c", "resources": resources}


@pytest.mark.parametrize("field", ["containers", "initContainers"])
def test_a_limit_alone_is_a_request_too(field: str) -> None:
    spec = {field: [container(limits={GPU: 1, "cpu": 2}, requests={"cpu": 1})]}
    before = deepcopy(spec)
    assert defaulted(spec)[field][0]["resources"] == {
        "limits": {GPU: 1, "cpu": 2},
        "requests": {GPU: 1, "cpu": 1},
    }
    assert spec == before


@pytest.mark.parametrize("requests", [{}, {"requests": None}, {"requests": {}}])
def test_requests_that_are_not_there_are_made(requests: dict[str, Any]) -> None:
    made = defaulted({"containers": [container(limits={GPU: "1"}, **requests)]})
    assert made["containers"][0]["resources"]["requests"] == {GPU: "1"}


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"containers": [container(requests={GPU: 1})]},
        {"containers": [container(limits={GPU: 2}, requests={GPU: 1})]},
        {"containers": [container(limits={})]},
        {"containers": [{"name": "c"}, {"name": "d", "resources": None}]},
        {"ephemeralContainers": [container(limits={GPU: 1})]},
        {"containers": "x", "initContainers": {"a": 1}},
        {"containers": ["x", None, {"resources": []}, container(limits=[]), container(limits={GPU: 1}, requests=[])]},
    ],
)
def test_everything_else_stays_the_same_object(spec: dict[str, Any]) -> None:
    before = deepcopy(spec)
    assert defaulted(spec) is spec
    assert spec == before


def test_what_is_not_changed_is_shared() -> None:
    spec = {"containers": [container(limits={GPU: 1}), container()], "volumes": []}
    made = defaulted(spec)
    assert made["containers"][1] is spec["containers"][1]
    assert made["volumes"] is spec["volumes"]


@pytest.mark.parametrize(
    "resources",
    [
        {"limits": {GPU: 1}},
        {"requests": {GPU: 1}},
        {"requests": {GPU: 1}, "limits": None},
        {"requests": {GPU: 1}, "limits": {"cpu": 1}},
        {"requests": {"cpu": 1}, "limits": {GPU: 1}},
    ],
)
def test_a_patch_made_with_defaults_fits_the_object_without(resources: dict[str, Any]) -> None:
    obj = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "x"},
        "spec": {"containers": [container(limits={"memory": "1Gi"}), container(**resources)]},
    }
    (template,) = templates(obj, CORE_KINDS)
    changes = decide(read_policy("shipped"), template.pod(), Context("team-a")).changes
    patched = jsonpatch.apply_patch(obj, [operation for change in changes for operation in change.operations])
    limits = patched["spec"]["containers"][1]["resources"]["limits"]
    assert limits[GPU] == 1
    assert "requests" not in patched["spec"]["containers"][0]["resources"]
    again = decide(read_policy("shipped"), Pod.of(patched), Context("team-a"))
    assert not again.changes
    assert not again.findings
