"""Which pods a match selects."""

from typing import Any

import pytest

from app.model.context import ClusterFacts, Context
from app.model.gpu import GpuSet, gpu_use
from app.model.pod import Pod
from app.policy.glob import Globs
from app.policy.match import Match
from app.policy.presets import preset

GPUS = GpuSet([preset("nvidia"), preset("amd")])
CLAIMS: dict[tuple[str, str], tuple[str, ...]] = {("team-a", "one-gpu"): ("gpu.nvidia.com",)}


def selects(match: Match, spec: dict[str, Any], labels: dict[str, str], runtime_class: str = "nvidia") -> bool:
    pod = Pod({"labels": labels}, spec)
    context = Context(namespace="team-a", facts=ClusterFacts(claims=CLAIMS))
    return match.selects(pod, gpu_use(pod, GPUS, context), context, runtime_class)


GPU_POD = {"containers": [{"name": "c", "resources": {"limits": {"nvidia.com/mig-1g.5gb": 1, "cpu": 1}}}]}
CLAIM_POD = {
    "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}],
    "containers": [{"name": "c", "resources": {"claims": [{"name": "gpu"}]}}],
}
LABELS = {"workload": "training", "team": "vision"}


def one(**conditions: Any) -> Match:
    return Match(**{name: tuple_or_globs(value) for name, value in conditions.items()})


def tuple_or_globs(value: Any) -> Any:
    return tuple((key, Globs([text])) for key, text in value.items()) if isinstance(value, dict) else Globs(value)


@pytest.mark.parametrize(
    ("match", "selected"),
    [
        (one(), True),
        (one(namespaces=["team-*"]), True),
        (one(namespaces=["team-b", "team-c"]), False),
        (one(not_namespaces=["team-b"]), True),
        (one(not_namespaces=["team-*"]), False),
        (one(namespaces=["team-*"], not_namespaces=["team-a"]), False),
        (one(pod_labels={"workload": "training"}), True),
        (one(pod_labels={"workload": "train*", "team": "*"}), True),
        (one(pod_labels={"workload": "training", "team": "speech"}), False),
        (one(pod_labels={"missing": "*"}), False),
        (one(resources=["nvidia.com/mig-*"]), True),
        (one(resources=["nvidia.com/gpu", "amd.com/*"]), False),
        (one(resources=["cpu"]), False),  # only GPU resources count
        (one(device_classes=["gpu.nvidia.com"]), False),
        (one(runtime_classes=["nvidia", "kata-*"]), True),
        (one(runtime_classes=["kata-*"]), False),
        (one(namespaces=["team-a"], resources=["amd.com/gpu"]), False),
    ],
)
def test_all_conditions_must_hold(match: Match, selected: bool) -> None:
    assert selects(match, GPU_POD, LABELS) is selected


def test_device_classes_of_claims() -> None:
    assert selects(one(device_classes=["gpu.*"]), CLAIM_POD, {})
    assert not selects(one(device_classes=["mig.*"]), CLAIM_POD, {})
    assert not selects(one(resources=["*"]), CLAIM_POD, {})


def test_a_pod_without_a_class_has_an_empty_one() -> None:
    assert not selects(one(runtime_classes=["nvidia"]), GPU_POD, {}, runtime_class="")
    assert selects(one(runtime_classes=["*"]), GPU_POD, {}, runtime_class="")


@pytest.mark.parametrize(
    "condition",
    ["namespaces", "not_namespaces", "resources", "device_classes", "runtime_classes"],
)
def test_everything_is_a_match_without_conditions(condition: str) -> None:
    assert Match().everything
    assert not one(**{condition: ["a"]}).everything
    assert not one(pod_labels={"a": "b"}).everything
