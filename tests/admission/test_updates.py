"""Updates of pods: never patched, and refused only for what the update itself makes worse."""

import copy
from typing import Any

import pytest

from app.policy.compiled import Mode, Policy
from tests.admission.asking import Object, Reply, ask
from tests.engine.judging import classes, gpu_pod
from tests.engine.policies import POLICIES, policy

STRICT = policy(
    """
  gpus: {presets: [nvidia, kai]}
  exempt: {pods: [{namespace: team, labels: {exempt: "yes"}}]}
  rules:
    - {rule: limits-equal-requests, repair: true}
    - {rule: no-privileged}
    - {rule: runtime-class, repair: true, with: {default: nvidia}}
    - {rule: no-gpu-bypass}
    - {rule: gpu-nodes-reserved, with: {nodeLabels: [accelerator], taintKeys: [nvidia.com/gpu]}}
  exceptions:
    - {name: proxy, rules: [no-privileged], match: {images: ["proxy:*"]}, owner: a, reason: b, expires: 2099-01-01}
    - name: labelled
      rules: [no-gpu-bypass]
      match: {podLabels: {let: through}}
      owner: a
      reason: b
      expires: 2099-01-01
  inject: [{name: nodes, nodeSelector: {accelerator: nvidia-gpu}, taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}]
"""
)
MODES: list[Mode] = ["audit", "warn", "assist", "enforce"]
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists"}
DEBUG = {"name": "debug", "image": "busybox", "securityContext": {"privileged": True}}


def cpu_pod(**spec: Any) -> Object:
    containers = [{"name": "web", "image": "web:1"}]
    return {"kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": containers, **spec}}


def update(old: Object | None, new: Object, mode: Mode = "enforce", policy: Policy = STRICT, **more: Any) -> Reply:
    """The validating call's answer; the mutating call has nothing to say."""
    first = ask(policy, "mutate", mode, new, operation="UPDATE", old=old, **more)
    assert (first.allowed, first.patch, first.warnings) == (True, [], [])
    assert "findings" not in first.annotations
    assert "changes" not in first.annotations
    return ask(policy, "validate", mode, new, operation="UPDATE", old=old, **more)


def edited(obj: Object, **metadata: Any) -> Object:
    return {**obj, "metadata": {**obj["metadata"], **metadata}}


# Every rule finds something wrong with these, and nothing of it is new.
OLD = [
    gpu_pod(nodeSelector={"accelerator": "l4"}, runtimeClassName="runc", ephemeralContainers=[DEBUG]),
    gpu_pod(),  # no class, no selector: it was there before gpugate
    cpu_pod(tolerations=[TOLERATION], nodeName="node-1", runtimeClassName="nvidia"),
    cpu_pod(volumes=[{"name": "dev", "hostPath": {"path": "/dev"}}], ephemeralContainers=[DEBUG]),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("old", OLD)
def test_what_was_there_before_is_no_reason(old: Object, mode: Mode) -> None:
    assert not ask(STRICT, "validate", "enforce", old).allowed
    for new in (
        copy.deepcopy(old),
        edited(old, labels={"a": "b"}),
        edited(old, annotations={"a": "b"}),
        edited(old, finalizers=[]),
        {**old, "spec": {**old["spec"], "tolerations": [*old["spec"].get("tolerations", []), {"key": "x"}]}},
        {**old, "spec": {**old["spec"], "activeDeadlineSeconds": 5}},
    ):
        reply = update(old, new, mode)
        assert (reply.allowed, reply.warnings, reply.annotations) == (True, [], {})


WORSE = {
    "a privileged ephemeral container": (gpu_pod(), gpu_pod(ephemeralContainers=[DEBUG]), "no-privileged"),
    "a second one": (
        gpu_pod(ephemeralContainers=[DEBUG]),
        gpu_pod(ephemeralContainers=[DEBUG, {**DEBUG, "name": "debug-2"}]),
        "no-privileged",
    ),
    "a toleration": (cpu_pod(), cpu_pod(tolerations=[TOLERATION]), "gpu-nodes-reserved"),
    "a toleration after others": (
        cpu_pod(tolerations=[{"key": "x"}]),
        cpu_pod(tolerations=[{"key": "x"}, TOLERATION]),
        "gpu-nodes-reserved",
    ),
    "a selector, while it is gated": (cpu_pod(), cpu_pod(nodeSelector={"accelerator": "x"}), "gpu-nodes-reserved"),
    "an annotation": (cpu_pod(), edited(cpu_pod(), annotations={"cdi.k8s.io/gpu": "x"}), "no-gpu-bypass"),
    "an annotation that makes it a GPU pod": (
        cpu_pod(ephemeralContainers=[DEBUG]),
        edited(cpu_pod(ephemeralContainers=[DEBUG]), annotations={"gpu-fraction": "0.5"}),
        "no-privileged",
    ),
    "a variable of an ephemeral container": (
        cpu_pod(),
        cpu_pod(ephemeralContainers=[{"name": "d", "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "0"}]}]),
        "no-gpu-bypass",
    ),
    "a label that ends an exception": (
        edited(cpu_pod(runtimeClassName="nvidia"), labels={"let": "through"}),
        edited(cpu_pod(runtimeClassName="nvidia"), labels={"let": "not"}),
        "no-gpu-bypass",
    ),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("old", "new", "rule"), WORSE.values(), ids=WORSE)
def test_what_the_update_makes_worse(old: Object, new: Object, rule: str, mode: Mode) -> None:
    reply = update(old, new, mode)
    assert reply.allowed is (mode != "enforce")
    assert f"deny test/{rule}: " in reply.annotations["findings"]
    assert any(f"test/{rule}: " in text for text in reply.warnings) is (mode in ("warn", "assist"))
    # The way back is always open.
    assert update(new, old, mode).allowed


def test_only_what_is_new_is_said() -> None:
    old = gpu_pod(ephemeralContainers=[DEBUG], runtimeClassName="runc")
    new = gpu_pod(ephemeralContainers=[DEBUG, {**DEBUG, "name": "debug-2"}], runtimeClassName="runc")
    reply = update(old, new)
    assert reply.message.startswith('test/no-privileged: ephemeral container "debug-2": ')
    assert reply.message.count("test/") == 1


def with_image(image: str) -> Object:
    pod = gpu_pod(runtimeClassName="nvidia")
    pod["spec"]["containers"].append({"name": "proxy", "image": image, "securityContext": {"privileged": True}})
    return pod


def test_another_image_can_end_an_exception() -> None:
    kept = update(with_image("proxy:1"), with_image("proxy:2"))
    assert (kept.allowed, kept.annotations) == (True, {})  # what the exception lets through was recorded on creation
    reply = update(with_image("proxy:1"), with_image("other:1"))
    assert not reply.allowed
    assert reply.message.startswith('test/no-privileged: container "proxy": ')
    # It never was one: not worse.
    assert update(with_image("other:1"), with_image("other:2")).allowed
    assert update(with_image("other:1"), with_image("proxy:1")).allowed


def test_an_edit_that_ends_an_exemption_is_not_worse() -> None:
    bad = gpu_pod(runtimeClassName="runc", ephemeralContainers=[DEBUG])
    exempt = edited(bad, labels={"exempt": "yes"})
    assert update(exempt, exempt).annotations == {"mode": "enforce", "exempt": "pod"}
    assert update(exempt, bad).allowed
    worse = {**bad, "spec": {**bad["spec"], "ephemeralContainers": [DEBUG, {**DEBUG, "name": "more"}]}}
    reply = update(exempt, worse)
    assert not reply.allowed
    assert '"more"' in reply.message
    assert '"debug"' not in reply.message
    assert update(bad, edited(worse, labels={"exempt": "yes"})).allowed


@pytest.mark.parametrize("mode", MODES)
def test_a_pod_that_is_being_deleted_is_let_go(mode: Mode) -> None:
    old, new, _ = WORSE["a toleration"]
    deleted = edited(new, deletionTimestamp="2027-01-01T00:00:00Z")
    reply = update(old, deleted, mode)
    assert (reply.allowed, reply.warnings, reply.annotations) == (True, [], {})


def test_without_the_old_object_everything_is_new() -> None:
    for old in OLD:
        assert not update(None, old).allowed
    assert update(None, cpu_pod()).allowed


@pytest.mark.parametrize("resource", ["ephemeralcontainers", "resize", "status"])
def test_subresources_are_updates_too(resource: str) -> None:
    old, new, _ = WORSE["a privileged ephemeral container"]
    assert not update(old, new, subResource=resource).allowed
    assert update(old, old, subResource=resource).allowed


def test_other_facts_than_on_creation_make_nothing_worse() -> None:
    for facts in (classes(), classes(nvidia={"accelerator": "x"}), None):
        assert update(gpu_pod(), edited(gpu_pod(), labels={"a": "b"}), facts=facts).allowed


def test_an_old_object_that_cannot_be_read_is_an_error() -> None:
    old, new, _ = WORSE["a toleration"]
    reply = update({**old, "spec": []}, new)
    assert (reply.allowed, reply.answer.verdict) == (False, "error")


def test_the_shipped_policy_only_warns_of_tolerations() -> None:
    old, new, _ = WORSE["a toleration"]
    reply = update(old, new, policy=POLICIES["shipped"])
    assert reply.allowed
    assert len(reply.warnings) == 1
