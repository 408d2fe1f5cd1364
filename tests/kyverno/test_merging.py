"""Strategic merges: which lists merge, in what order, and what removes."""

from typing import Any

import pytest

from app.kyverno.mutation.merging import merged
from app.kyverno.mutation.schema import schema_of
from app.kyverno.types import RuleError


def over(spec: dict[str, Any], patch: dict[str, Any], kind: str = "Pod", version: str = "v1") -> Any:
    """The spec of a resource with a patch of the spec over it."""
    resource = {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, "spec": spec}
    before = repr(resource)
    after = merged(resource, {"spec": patch}, schema_of(resource))
    assert repr(resource) == before
    return after["spec"]


A, B, C = {"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}, {"name": "c", "image": "c:1"}


@pytest.mark.parametrize(
    ("spec", "patch", "after"),
    [
        ({}, {"runtimeClassName": "nvidia"}, {"runtimeClassName": "nvidia"}),
        ({"runtimeClassName": "kata"}, {"runtimeClassName": "nvidia"}, {"runtimeClassName": "nvidia"}),
        ({"a": {"b": 1}}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}),
        # Null removes; one that was there before stays.
        ({"a": 1, "b": None}, {"a": None, "c": None}, {"b": None}),
        ({}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
        # Lists by key: what is patched comes first, in the order of the patch.
        ({"containers": [A, B]}, {"containers": [C]}, {"containers": [C, A, B]}),
        ({"containers": [A, B]}, {"containers": [{"name": "b", "tty": True}]}, {"containers": [{**B, "tty": True}, A]}),
        ({"containers": [A, B]}, {"containers": []}, {"containers": [A, B]}),
        ({"containers": [A]}, {"containers": None}, {}),
        (
            {"volumes": [{"name": "v", "emptyDir": {}}]},
            {"volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}]},
            {"volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}]},
        ),
        ({}, {"imagePullSecrets": [{"name": "s"}]}, {"imagePullSecrets": [{"name": "s"}]}),
        # By two keys, of which the second may be left out.
        (
            {"containers": [{"name": "a", "ports": [{"containerPort": 80, "protocol": "TCP"}]}]},
            {"containers": [{"name": "a", "ports": [{"containerPort": 80, "name": "web"}]}]},
            {"containers": [{"name": "a", "ports": [{"containerPort": 80, "protocol": "TCP", "name": "web"}]}]},
        ),
        (
            {"containers": [{"name": "a", "ports": [{"containerPort": 53, "protocol": "TCP"}]}]},
            {"containers": [{"name": "a", "ports": [{"containerPort": 53, "protocol": "UDP"}]}]},
            {
                "containers": [
                    {
                        "name": "a",
                        "ports": [{"containerPort": 53, "protocol": "UDP"}, {"containerPort": 53, "protocol": "TCP"}],
                    }
                ]
            },
        ),
        # Tolerations, commands and arguments are replaced.
        ({"tolerations": [{"key": "x"}]}, {"tolerations": [{"key": "y"}]}, {"tolerations": [{"key": "y"}]}),
        (
            {"containers": [{"name": "a", "args": ["1"]}]},
            {"containers": [{"name": "a", "args": ["2"]}]},
            {"containers": [{"name": "a", "args": ["2"]}]},
        ),
        # Directives.
        ({"containers": [A, B]}, {"containers": [{"name": "a", "$patch": "delete"}]}, {"containers": [B]}),
        ({"containers": [A, B]}, {"containers": [{"$patch": "replace"}, C]}, {"containers": [C]}),
        ({"containers": [A]}, {"containers": [{"$patch": "delete"}]}, {}),
        ({"a": {"b": 1}}, {"a": {"$patch": "replace", "c": 2}}, {"a": {"c": 2}}),
        ({"a": {"b": 1}}, {"a": {"$patch": "delete"}}, {}),
        ({"a": {"b": 1}}, {"a": {"$patch": "merge", "c": 2}}, {"a": {"b": 1, "c": 2}}),
    ],
)
def test_a_patch_of_a_pod(spec: dict[str, Any], patch: dict[str, Any], after: dict[str, Any]) -> None:
    assert over(spec, patch) == after


@pytest.mark.parametrize(
    ("kind", "version", "path"),
    [
        ("Deployment", "apps/v1", ("template", "spec")),
        ("Job", "batch/v1", ("template", "spec")),
        ("CronJob", "batch/v1", ("jobTemplate", "spec", "template", "spec")),
    ],
)
def test_the_pods_of_controllers_merge_as_pods_do(kind: str, version: str, path: tuple[str, ...]) -> None:
    def wrapped(value: Any) -> Any:
        for key in reversed(path):
            value = {key: value}
        return value

    after = over(wrapped({"containers": [A, B]}), wrapped({"containers": [{"name": "a", "tty": True}]}), kind, version)
    assert after == wrapped({"containers": [{**A, "tty": True}, B]})


def test_the_lists_of_an_unknown_kind_are_replaced() -> None:
    assert over({"containers": [A]}, {"containers": [B]}, "PyTorchJob", "kubeflow.org/v1") == {"containers": [B]}


def test_finalizers_are_a_set() -> None:
    resource = {"apiVersion": "v1", "kind": "Pod", "metadata": {"finalizers": ["a", "b"]}}
    after = merged(resource, {"metadata": {"finalizers": ["c", "a", "c"]}}, schema_of(resource))
    assert after["metadata"]["finalizers"] == ["c", "a", "b"]


def test_what_should_be_texts_and_is_not_is_kept() -> None:
    resource = {"apiVersion": "v1", "kind": "Pod", "metadata": {"finalizers": [{"a": 1}]}}
    after = merged(resource, {"metadata": {"finalizers": [["b"]]}}, schema_of(resource))
    assert after["metadata"]["finalizers"] == [["b"], {"a": 1}]


@pytest.mark.parametrize(
    ("spec", "patch", "message"),
    [
        ({"a": 1}, {"a": {"b": 1}}, "the patch has an object at spec.a, where the resource has a number"),
        ({"a": {"b": 1}}, {"a": 1}, "the patch has a number at spec.a, where the resource has an object"),
        ({"a": {"b": 1}}, {"a": []}, "the patch has a list at spec.a, where the resource has an object"),
        (
            {"containers": [{"name": "a", "env": {}}]},
            {"containers": [{"name": "a", "env": []}]},
            "the patch has a list at spec.containers[a].env, where the resource has an object",
        ),
    ],
)
def test_what_does_not_fit(spec: dict[str, Any], patch: dict[str, Any], message: str) -> None:
    with pytest.raises(RuleError) as caught:
        over(spec, patch)
    assert str(caught.value) == message
