"""The runtime class that a pod gets: what is known of the cluster, and what else is matched by it."""

from typing import Any

import pytest

from app.model.context import ClusterFacts
from tests.engine.judging import changed, classes, decision, gpu_pod, named, said
from tests.engine.policies import policy

SET = policy("  gpus: {presets: [nvidia]}\n  rules: [{rule: runtime-class, repair: true, with: {default: nvidia}}]\n")
SELECTING = policy(
    """
  gpus: {presets: [nvidia]}
  rules: [{rule: runtime-class, repair: true, with: {default: nvidia}}]
  inject: [{name: nodes, nodeSelector: {accelerator: nvidia-gpu}}]
"""
)


@pytest.mark.parametrize("facts", [ClusterFacts(), classes(nvidia={}), classes(nvidia={}, kata={"a": "b"})])
@pytest.mark.parametrize("missing", [{}, {"runtimeClassName": None}])
def test_a_missing_class_is_set(facts: ClusterFacts, missing: dict[str, Any]) -> None:
    pod = gpu_pod(**missing)
    assert changed(SET, pod, facts=facts)["spec"]["runtimeClassName"] == "nvidia"
    assert decision(SET, pod, facts=facts).findings == []
    assert named(decision(SET, pod, facts=facts, repair=False).findings) == [("deny", "runtime-class")]


@pytest.mark.parametrize("facts", [classes(), classes(kata={})])
@pytest.mark.parametrize("repair", [True, False])
def test_a_class_that_the_cluster_does_not_have_is_left_out(facts: ClusterFacts, repair: bool) -> None:
    found = decision(SET, gpu_pod(), facts=facts, repair=repair)
    assert found.changes == []
    # A warning, and no violation: with the class, the API server would refuse the pod.
    assert said(found.findings) == [
        'warn runtime-class: runtimeClassName "nvidia" was left out: the cluster has no RuntimeClass "nvidia"'
    ]
    assert found.findings[0].early
    assert not found.findings[0].final


def test_a_rule_that_only_warns_warns_no_differently() -> None:
    rule = "{rule: runtime-class, action: audit, with: {default: nvidia}}"
    warned = policy(f"  gpus: {{presets: [nvidia]}}\n  rules: [{rule}]\n")
    assert named(decision(warned, gpu_pod(), facts=classes()).findings) == [("warn", "runtime-class")]
    assert named(decision(warned, gpu_pod(), facts=classes(nvidia={})).findings) == [("audit", "runtime-class")]


def test_another_class_is_refused_whatever_the_cluster_has() -> None:
    for facts in (ClusterFacts(), classes(), classes(nvidia={}, runc={})):
        found = decision(SET, gpu_pod(runtimeClassName="runc"), facts=facts)
        assert (named(found.findings), found.changes) == ([("deny", "runtime-class")], [])


@pytest.mark.parametrize("repair", [True, False])
def test_a_class_whose_nodes_the_pod_does_not_want_is_left_out(repair: bool) -> None:
    pod = gpu_pod(nodeSelector={"pool": "mine"})
    found = decision(SET, pod, facts=classes(nvidia={"pool": "theirs"}), repair=repair)
    assert found.changes == []
    (warning,) = said(found.findings)
    assert warning.startswith('warn runtime-class: runtimeClassName "nvidia" was left out')
    assert "its nodeSelector pool=theirs contradicts the pod's pool=mine" in warning
    for selector in ({"pool": "mine"}, {"zone": "z"}):
        assert "runtimeClassName" in changed(SET, pod, facts=classes(nvidia=selector))["spec"]


@pytest.mark.parametrize("repair", [True, False])
def test_a_class_whose_nodes_are_not_those_that_are_injected_is_left_out(repair: bool) -> None:
    found = decision(SELECTING, gpu_pod(), facts=classes(nvidia={"accelerator": "l4"}), repair=repair)
    assert named(found.findings) == [("warn", "runtime-class")]
    assert "contradicts the pod's accelerator=nvidia-gpu" in found.findings[0].message
    assert named(found.changes) == [("inject", "nodes")]


def test_a_class_of_the_injected_nodes_is_set() -> None:
    facts = classes(nvidia={"accelerator": "nvidia-gpu"})
    after = changed(SELECTING, gpu_pod(), facts=facts)["spec"]
    assert (after["runtimeClassName"], after["nodeSelector"]) == ("nvidia", {"accelerator": "nvidia-gpu"})


@pytest.mark.parametrize(
    "placed", [{"nodeName": "n"}, {"schedulerName": "volcano"}, {"schedulingGates": [{"name": "g"}]}]
)
def test_what_is_not_injected_does_not_stand_in_the_way(placed: dict[str, Any]) -> None:
    after = changed(SELECTING, gpu_pod(**placed), facts=classes(nvidia={"accelerator": "l4"}))
    assert after["spec"]["runtimeClassName"] == "nvidia"


def test_pods_that_need_no_class_get_none() -> None:
    both = policy(
        "  gpus: {presets: [nvidia, amd], resources: [example.com/gpu]}\n"
        "  rules: [{rule: runtime-class, repair: true, with: {default: nvidia}}]\n"
    )
    for name in ("amd.com/gpu", "example.com/gpu", "deviceclass.resource.kubernetes.io/gpu.nvidia.com"):
        pod = gpu_pod()
        pod["spec"]["containers"][0]["resources"] = {"limits": {name: 1}}
        found = decision(both, pod)
        assert found.use.gpu
        assert (found.findings, found.changes) == ([], [])


BY_CLASS = policy(
    """
  gpus: {presets: [nvidia]}
  rules:
    - {rule: max-gpus, match: {runtimeClasses: [nvidia]}, with: {perPod: {nvidia.com/gpu: 0}}}
    - {rule: runtime-class, repair: true, with: {default: nvidia, allowed: [nvidia, kata]}}
  inject:
    - {name: for-nvidia, match: {runtimeClasses: [nvidia]}, nodeSelector: {class: nvidia}}
    - {name: for-kata, match: {runtimeClasses: [kata]}, nodeSelector: {class: kata}}
"""
)


def test_the_class_that_a_pod_gets_decides_on_what_else_applies() -> None:
    found = decision(BY_CLASS, gpu_pod())
    assert named(found.findings) == [("deny", "max-gpus")]
    assert named(found.changes) == [("repair", "runtime-class"), ("inject", "for-nvidia")]
    assert named(decision(BY_CLASS, gpu_pod(runtimeClassName="kata")).changes) == [("inject", "for-kata")]


def test_as_it_is_a_pod_without_a_class_is_matched_by_none() -> None:
    found = decision(BY_CLASS, gpu_pod(), repair=False)
    assert named(found.findings) == [("deny", "runtime-class")]
    assert found.changes == []


def test_a_class_that_is_left_out_decides_on_nothing() -> None:
    found = decision(BY_CLASS, gpu_pod(), facts=classes())
    assert named(found.findings) == [("warn", "runtime-class")]
    assert found.changes == []


@pytest.mark.parametrize("repair", [True, False])
def test_a_class_that_brings_what_it_cannot_stand_is_left_out(repair: bool) -> None:
    # With the class comes a selector that contradicts the class's own; without the class, there is neither.
    found = decision(BY_CLASS, gpu_pod(), facts=classes(nvidia={"class": "other"}), repair=repair)
    assert named(found.findings) == [("warn", "runtime-class")]
    assert "its nodeSelector class=other contradicts the pod's class=nvidia" in found.findings[0].message
    assert found.changes == []


def test_a_second_entry_of_the_rule_is_judged_by_what_the_first_repairs() -> None:
    twice = policy(
        """
  gpus: {presets: [nvidia]}
  rules:
    - {rule: runtime-class, repair: true, with: {default: nvidia, allowed: [nvidia, kata]}}
    - {rule: runtime-class, name: strict, match: {podLabels: {strict: "true"}}, with: {default: nvidia-cdi}}
    - {rule: runtime-class, name: sandboxed, repair: true, match: {podLabels: {sandbox: "true"}}, with: {default: kata}}
    - {rule: limits-equal-requests, repair: true}
    - {rule: limits-equal-requests, name: again}
"""
    )
    found = decision(twice, gpu_pod(labels={"strict": "true"}))
    assert said(found.findings) == [
        'deny strict: runtimeClassName is "nvidia", which is not for GPU pods here; set it to "nvidia-cdi"'
    ]
    pod = gpu_pod(labels={"sandbox": "true"})
    assert decision(twice, pod).findings == []
    assert changed(twice, pod)["spec"]["runtimeClassName"] == "kata"
    # A limit that one entry sets is missing for none.
    pod = gpu_pod(runtimeClassName="nvidia")
    pod["spec"]["containers"][0]["resources"] = {"requests": {"nvidia.com/gpu": 1}}
    assert decision(twice, pod).findings == []
    assert changed(twice, pod)["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": 1}
    assert named(decision(twice, pod, repair=False).findings) == [
        ("deny", "limits-equal-requests"),
        ("deny", "again"),
    ]
