"""How rules and pods meet: which rules apply to which pods, and what a finding carries."""

from typing import Any

import pytest

from app.engine import decide
from app.model.context import ClusterFacts, Context
from app.model.patch import added
from app.model.pod import MalformedPod, Pod
from tests.engine.judging import decision, gpu_pod, named, said
from tests.engine.policies import POLICIES, policy

SHIPPED = POLICIES["shipped"]


def claiming(**container: Any) -> dict[str, Any]:
    spec = {
        "containers": [{"name": "main", "resources": {"claims": [{"name": "device"}]}, **container}],
        "resourceClaims": [{"name": "device", "resourceClaimTemplateName": "one"}],
    }
    return {"kind": "Pod", "metadata": {"name": "a"}, "spec": spec}


def test_a_claim_of_unknown_class_is_for_no_privileged_alone() -> None:
    found = decision(SHIPPED, claiming(securityContext={"privileged": True}))
    assert not found.use.gpu
    assert found.changes == []
    note, refusal = said(found.findings)
    assert note.startswith('note no-privileged: resource claim "device" may be for a GPU')
    assert refusal.startswith('deny no-privileged: container "main": privileged is true')


def test_a_claim_of_unknown_class_is_a_reason_for_tolerating_gpu_nodes() -> None:
    pod = claiming()
    pod["spec"]["tolerations"] = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
    assert named(decision(SHIPPED, pod).findings) == [("note", "no-privileged")]


def test_a_claim_of_a_known_class_makes_a_gpu_pod_or_none() -> None:
    gpu = ClusterFacts(claims={("team", "one"): ("gpu.nvidia.com",)})
    found = decision(SHIPPED, claiming(), facts=gpu)
    assert found.findings == []
    assert {change.rule for change in found.changes} == {"gpu-nodes"}  # no runtime class: CDI needs none
    other = ClusterFacts(claims={("team", "one"): ("nic.example.com",)})
    found = decision(SHIPPED, claiming(securityContext={"privileged": True}), facts=other)
    assert (found.findings, found.changes) == ([], [])


def test_beside_a_gpu_an_unknown_claim_is_no_matter() -> None:
    pod = claiming()
    pod["spec"]["containers"].append(gpu_pod()["spec"]["containers"][0])
    assert decision(SHIPPED, pod).findings == []


def test_rules_for_gpu_pods_leave_other_pods_alone() -> None:
    pod: dict[str, Any] = {
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "main", "securityContext": {"privileged": True}}], "runtimeClassName": "runc"},
    }
    found = decision(SHIPPED, pod)
    assert (found.findings, found.changes) == ([], [])


def test_rules_for_other_pods_leave_gpu_pods_alone() -> None:
    pod = gpu_pod(nodeName="node-1", runtimeClassName="nvidia", nodeSelector={"accelerator": "nvidia-gpu"})
    assert decision(SHIPPED, pod).findings == []
    del pod["spec"]["containers"][0]["resources"]
    assert named(decision(SHIPPED, pod).findings) == [
        ("warn", "no-gpu-bypass"),
        ("warn", "gpu-nodes-reserved"),
        ("warn", "gpu-nodes-reserved"),
    ]


def test_a_finding_carries_the_names_of_policy_and_rule_the_container_and_the_help() -> None:
    helped = policy(
        """
  gpus: {presets: [nvidia]}
  rules: [{rule: no-privileged, name: own-name, action: audit, help: "see https://wiki.example.com"}]
"""
    )
    pod = gpu_pod(initContainers=[{"name": "init", "image": "i:1", "securityContext": {"privileged": True}}])
    (found,) = decision(helped, pod).findings
    assert (found.policy, found.rule, found.outcome) == ("test", "own-name", "audit")
    assert (found.container_kind, found.container, found.image) == ("initContainer", "init", "i:1")
    assert found.pointer == "/spec/initContainers/0/securityContext/privileged"
    assert found.text.startswith('test/own-name: init container "init": privileged is true')
    assert found.text.endswith(" (see https://wiki.example.com)")
    assert (found.final, found.early, found.operations) == (False, False, ())


def test_what_the_api_server_would_refuse_is_final() -> None:
    pod = gpu_pod()
    pod["spec"]["containers"][0]["resources"] = {
        "limits": {"nvidia.com/gpu": 8, "deviceclass.resource.kubernetes.io/gpu.nvidia.com": 3},
        "requests": {"nvidia.com/gpu": 6, "deviceclass.resource.kubernetes.io/gpu.nvidia.com": 1},
    }
    found = decision(SHIPPED, pod).findings
    assert [(finding.rule, finding.final) for finding in found] == [
        ("limits-equal-requests", True),
        ("limits-equal-requests", False),  # of a device class's resource the API server asks nothing
    ]


def test_two_resources_without_limits_in_one_container() -> None:
    shares = policy("  gpus: {presets: [nvidia, hami]}\n  rules: [{rule: limits-equal-requests, repair: true}]\n")
    pod = gpu_pod()
    pod["spec"]["containers"][0]["resources"] = {"requests": {"nvidia.com/gpu": 1, "nvidia.com/gpumem": 3000}}
    found = decision(shares, pod)
    operations = [operation for change in found.changes for operation in change.operations]
    assert added(pod["spec"], "/spec", operations)["containers"][0]["resources"] == {
        "requests": {"nvidia.com/gpu": 1, "nvidia.com/gpumem": 3000},
        "limits": {"nvidia.com/gpu": 1, "nvidia.com/gpumem": 3000},
    }


def test_a_template_that_the_api_server_validates_is_not_repaired() -> None:
    pod = gpu_pod()
    pod["spec"]["containers"][0]["resources"] = {"requests": {"nvidia.com/gpu": 1}}
    found = decide(SHIPPED, Pod.of(pod), Context("team", template=True))
    assert [(finding.rule, finding.outcome, finding.final) for finding in found.findings] == [
        ("limits-equal-requests", "deny", True)
    ]
    assert "repair" not in {change.outcome for change in found.changes if change.rule == "limits-equal-requests"}


def test_pointers_of_a_template_are_the_objects() -> None:
    pod = gpu_pod(runtimeClassName="runc")
    view = Pod(
        pod["metadata"],
        pod["spec"],
        metadata_pointer="/spec/template/metadata",
        spec_pointer="/spec/template/spec",
        daemonset=False,
    )
    found = decide(SHIPPED, view, Context("team"))
    places = [finding.pointer for finding in found.findings + found.changes]
    paths = [operation["path"] for change in found.changes for operation in change.operations]
    assert places
    assert paths
    assert all(place.startswith("/spec/template/spec/") for place in places + paths)


def test_a_pod_that_cannot_be_read_is_an_error() -> None:
    pod = gpu_pod(tolerations="all")
    with pytest.raises(MalformedPod, match=r"^spec\.tolerations must be a list, found text$"):
        decision(SHIPPED, pod)
