"""What objects of the input say of the cluster."""

from typing import Any

import pytest

from app.model.context import RuntimeClassFact
from app.workloads.facts import claim_template, runtime_class


def test_a_runtime_class_brings_its_scheduling() -> None:
    scheduling = {"nodeSelector": {"accelerator": "nvidia-gpu"}, "tolerations": [{"operator": "Exists"}]}
    obj = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "nvidia"}}
    assert runtime_class({**obj, "scheduling": scheduling}) == RuntimeClassFact(
        "nvidia", {"accelerator": "nvidia-gpu"}, ({"operator": "Exists"},)
    )
    assert runtime_class(obj) == RuntimeClassFact("nvidia")


@pytest.mark.parametrize(
    "obj",
    [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}},
        {"apiVersion": "example.com/v1", "kind": "RuntimeClass", "metadata": {"name": "a"}},
        {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass"},
        {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": []},
        {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": 3}},
    ],
)
def test_others_say_nothing(obj: dict[str, Any]) -> None:
    assert runtime_class(obj) is None


@pytest.mark.parametrize(
    "request_",
    [
        {"deviceClassName": "gpu.nvidia.com"},
        {"exactly": {"deviceClassName": "gpu.nvidia.com"}},
        {"firstAvailable": [{"deviceClassName": "gpu.nvidia.com"}]},
    ],
)
def test_a_claim_template_says_its_device_classes_in_every_version(request_: dict[str, Any]) -> None:
    obj = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "one-gpu"},
        "spec": {"spec": {"devices": {"requests": [{"name": "r", **request_}]}}},
    }
    assert claim_template(obj) == (None, "one-gpu", ("gpu.nvidia.com",))
    assert claim_template({**obj, "metadata": {"name": "b", "namespace": "a"}}) == ("a", "b", ("gpu.nvidia.com",))
    assert claim_template({**obj, "metadata": {}}) is None
    assert claim_template({**obj, "kind": "ResourceClaim"}) is None
