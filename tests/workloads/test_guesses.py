"""Kinds that nobody described: what looks like a pod spec in them."""

from typing import Any

import pytest

from app.workloads.templates import guesses
from tests.workloads.judging import KINDS, ONE, obj

SPEC = {"containers": [{"name": "a", "image": "a:1", "resources": ONE}]}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": SPEC}


def pointers(value: dict[str, Any]) -> list[str]:
    found = list(guesses(value, KINDS))
    assert all(template.guessed for template in found)
    return [template.spec_pointer for template in found]


@pytest.mark.parametrize(
    ("spec", "pointer"),
    [
        ({"template": TEMPLATE}, "/spec/template/spec"),
        ({"groups": [{"a/b": SPEC}]}, "/spec/groups/0/a~1b"),
        ({"containers": [{"name": "a", "resources": {}}]}, "/spec"),
        ({"deep": {"deeper": {"podTemplate": {"spec": SPEC}}}}, "/spec/deep/deeper/podTemplate/spec"),
    ],
)
def test_a_pod_spec_anywhere(spec: Any, pointer: str) -> None:
    value = obj("example.com/v1", "Rocket", spec)
    assert pointers(value) == [pointer]
    (template,) = guesses(value, KINDS)
    assert [container.pointer for container in template.pod().containers] == [f"{pointer}/containers/0"]


def test_labels_stand_beside_the_spec() -> None:
    (template,) = guesses(obj("example.com/v1", "Rocket", {"template": TEMPLATE}), KINDS)
    assert template.pod().labels == {"a": "b"}
    assert template.metadata_pointer == "/spec/template/metadata"
    (template,) = guesses(obj("example.com/v1", "Rocket", {"template": SPEC}), KINDS)
    assert template.pod().labels == {}


@pytest.mark.parametrize(
    "spec",
    [
        {"containers": []},
        {"containers": ["a"]},
        {"containers": [{"name": "a"}]},
        {"containers": [{"image": "a"}]},
        {"containers": [{"name": "a", "image": "b"}, 3]},
        {"containers": {"a": {"image": "b"}}},
        {"containerPolicies": [{"containerName": "a"}]},
        {"template": "spec: {containers: [{name: a, image: b}]}"},
        None,
        "text",
    ],
)
def test_what_has_another_shape_is_none(spec: Any) -> None:
    assert pointers(obj("example.com/v1", "Rocket", spec)) == []


@pytest.mark.parametrize(
    "value",
    [
        {**obj("example.com/v1", "Rocket", {}), "status": SPEC},
        obj("example.com/v1", "Rocket", {}, annotations=SPEC),
        obj("apps/v1", "ControllerRevision", {}) | {"data": {"spec": {"template": TEMPLATE}}},
        obj("v1", "ConfigMap", None) | {"data": {"pod.yaml": "spec: {containers: [{name: a, image: b}]}"}},
        obj("kyverno.io/v1", "ClusterPolicy", {"rules": [{"validate": {"pattern": {"spec": SPEC}}}]}),
        obj("gpugate.dev/v1alpha1", "PolicyTest", SPEC),
        {"kind": "Rocket", "spec": SPEC},
        {"spec": SPEC},
    ],
)
def test_what_makes_no_pods_is_not_looked_into(value: dict[str, Any]) -> None:
    assert pointers(value) == []


def test_objects_inside_are_read_as_what_they_are() -> None:
    workflow = obj("argoproj.io/v1alpha1", "Workflow", {"templates": [{"container": {"resources": ONE}}]})
    inner = [{"resource": workflow}, {"resource": obj("v1", "Secret", SPEC)}, {"resource": obj("b.io/v1", "B", SPEC)}]
    value = obj("argoproj.io/v1alpha1", "Sensor", {"triggers": inner})
    assert pointers(value) == ["/spec/triggers/0/resource/spec/templates/0", "/spec/triggers/2/resource/spec"]
    (container,) = next(guesses(value, KINDS)).pod().containers
    assert container.name == "main"


def test_a_pod_with_another_group_is_not_a_pod() -> None:
    assert pointers(obj("metrics.k8s.io/v1", "Pod", SPEC)) == ["/spec"]
