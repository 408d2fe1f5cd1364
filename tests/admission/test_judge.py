"""The whole answer of a mode, outside a request."""

from datetime import timedelta

import pytest

from app.admission.judge import Verdict, judge
from app.model.context import Context
from app.model.pod import MalformedPod, Pod
from app.policy.compiled import Mode, Policy
from tests.admission.asking import Object
from tests.engine.judging import gpu_pod, named
from tests.engine.policies import POLICIES, TODAY

SHIPPED = POLICIES["shipped"]


def verdict(obj: Object, mode: Mode = "enforce", *, policy: Policy = SHIPPED, as_written: bool = False) -> Verdict:
    return judge(policy, Pod.of(obj), Context("team", TODAY), mode, as_written=as_written)


def test_changes_count_as_done() -> None:
    found = verdict(gpu_pod())
    assert (found.allowed, found.gpu, found.exempt, found.mode) == (True, True, None, "enforce")
    assert named(found.findings) == [("repair", "runtime-class"), ("inject", "gpu-nodes"), ("inject", "gpu-nodes")]
    assert [operation["path"] for operation in found.patch] == [
        "/spec/runtimeClassName",
        "/spec/tolerations",
        "/spec/nodeSelector",
    ]


def test_as_written_nothing_is_done() -> None:
    found = verdict(gpu_pod(), as_written=True)
    assert (found.allowed, found.gpu) == (False, True)
    assert named(found.findings) == [("deny", "runtime-class"), ("note", "gpu-nodes"), ("note", "gpu-nodes")]
    assert found.patch == []
    assert all(finding.operations == () for finding in found.findings)
    done = gpu_pod(runtimeClassName="nvidia")
    assert verdict(done, as_written=True).allowed  # a missing toleration or selector is no violation


@pytest.mark.parametrize("mode", ["audit", "warn", "assist", "enforce"])
def test_only_enforce_refuses_and_every_mode_says_why(mode: Mode) -> None:
    found = verdict(gpu_pod(runtimeClassName="runc"), mode)
    assert found.allowed is (mode != "enforce")
    assert ("deny", "runtime-class") in named(found.findings)


def test_warnings_refuse_nothing() -> None:
    pod = {"spec": {"containers": [{"name": "a"}], "nodeName": "node-1"}}
    found = verdict(pod)
    assert (found.allowed, found.gpu, found.patch) == (True, False, [])
    assert named(found.findings) == [("warn", "gpu-nodes-reserved")]


def test_exceptions_hold_until_their_end() -> None:
    policy = POLICIES["excepted"]
    pod = gpu_pod(runtimeClassName="nvidia")
    pod["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    outcomes = {finding.outcome for finding in verdict(pod, policy=policy).findings if finding.rule == "no-privileged"}
    assert outcomes == {"note", "warn"}  # it is the last day
    assert verdict(pod, policy=policy).allowed
    for day in (TODAY + timedelta(days=1), None):
        assert not judge(policy, Pod.of(pod), Context("team", day), "enforce").allowed


def test_a_pod_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(MalformedPod):
        verdict(gpu_pod(tolerations="all"))
