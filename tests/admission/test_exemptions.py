"""Exemptions: pods that are admitted untouched in every mode."""

from typing import Any

import pytest

from app.admission.judge import judge
from app.admission.webhook import Phase
from app.model.context import Context
from app.model.pod import Pod
from app.policy.compiled import Exemption, Mode
from tests.admission.asking import Object, ask
from tests.engine.judging import gpu_pod
from tests.engine.policies import policy

EXEMPTING = policy(
    """
  gpus: {presets: [nvidia]}
  exempt:
    namespaces: [kube-system]
    serviceAccounts: [monitoring/dcgm-exporter, plain/default]
    pods: [{namespace: plugin, labels: {app: device-plugin, tier: node}}]
  rules:
    - {rule: no-privileged}
    - {rule: limits-equal-requests}
    - {rule: runtime-class, repair: true, with: {default: nvidia}}
"""
)
MODES: list[Mode] = ["audit", "warn", "assist", "enforce"]


def bad(labels: Object | None = None, **spec: Any) -> Object:
    """A pod that no mode but audit lets pass unnoticed."""
    pod = gpu_pod(labels=labels, **spec)
    pod["spec"]["containers"][0].update(
        resources={"limits": {"nvidia.com/gpu": 2}, "requests": {"nvidia.com/gpu": 1}},
        securityContext={"privileged": True},
    )
    return pod


PLUGIN = {"app": "device-plugin", "tier": "node", "more": "labels"}

CASES: list[tuple[str, Object, Exemption | None]] = [
    ("kube-system", bad(), "namespace"),
    ("kube-system", bad(labels={"app": "x"}, serviceAccountName="x"), "namespace"),
    ("kube-public", bad(), None),
    ("monitoring", bad(serviceAccountName="dcgm-exporter"), "serviceAccount"),
    ("monitoring", bad(serviceAccount="dcgm-exporter"), "serviceAccount"),  # the deprecated alias
    ("monitoring", bad(serviceAccountName="dcgm-exporter", serviceAccount="x"), "serviceAccount"),
    ("monitoring", bad(serviceAccountName="x", serviceAccount="dcgm-exporter"), None),
    ("monitoring", bad(), None),
    ("other", bad(serviceAccountName="dcgm-exporter"), None),
    ("plain", bad(), "serviceAccount"),  # no account is the default one
    ("plain", bad(serviceAccountName=""), "serviceAccount"),
    ("plain", bad(serviceAccountName="default"), "serviceAccount"),
    ("plain", bad(serviceAccountName="own"), None),
    ("plugin", bad(labels=PLUGIN), "pod"),
    ("plugin", bad(labels={"app": "device-plugin"}), None),
    ("plugin", bad(labels={**PLUGIN, "tier": "web"}), None),
    ("other", bad(labels=PLUGIN), None),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("phase", ["mutate", "validate"])
@pytest.mark.parametrize(("namespace", "obj", "exempt"), CASES)
def test_exempt(phase: Phase, mode: Mode, namespace: str, obj: Object, exempt: Exemption | None) -> None:
    reply = ask(EXEMPTING, phase, mode, obj, namespace=namespace)
    if exempt is None:
        assert reply.allowed is (mode != "enforce")
        assert reply.answer.verdict != "exempt"
        assert "findings" in reply.annotations
    else:
        assert (reply.allowed, reply.patch, reply.warnings) == (True, [], [])
        assert reply.annotations == {"mode": mode, "exempt": exempt}
        assert (reply.answer.verdict, reply.answer.findings) == ("exempt", [])
    verdict = judge(EXEMPTING, Pod.of(obj), Context(namespace), mode)
    assert verdict.exempt == exempt
    assert verdict.allowed is reply.allowed
    assert bool(verdict.findings) is (exempt is None)


@pytest.mark.parametrize("phase", ["mutate", "validate"])
def test_the_namespace_is_the_requests_and_not_the_objects(phase: Phase) -> None:
    obj = bad()
    obj["metadata"]["namespace"] = "kube-system"
    assert not ask(EXEMPTING, phase, "enforce", obj, namespace="team").allowed
    obj["metadata"]["namespace"] = "team"
    assert ask(EXEMPTING, phase, "enforce", obj, namespace="kube-system").allowed


@pytest.mark.parametrize("operation", ["CREATE", "UPDATE"])
@pytest.mark.parametrize("phase", ["mutate", "validate"])
@pytest.mark.parametrize("mode", MODES)
def test_mirror_pods_are_left_alone(phase: Phase, mode: Mode, operation: str) -> None:
    obj = bad()
    obj["metadata"]["annotations"] = {"kubernetes.io/config.mirror": ""}
    reply = ask(EXEMPTING, phase, mode, obj, operation=operation)
    assert (reply.allowed, reply.patch, reply.warnings, reply.annotations) == (True, [], [], {})
    assert reply.answer.verdict == "allowed"
    verdict = judge(EXEMPTING, Pod.of(obj), Context("team"), mode)
    assert (verdict.allowed, verdict.exempt, verdict.findings, verdict.patch) == (True, None, [], [])


def test_in_disabled_namespaces_nothing_is_judged() -> None:
    verdict = judge(EXEMPTING, Pod.of(bad()), Context("team"), "disabled")
    assert (verdict.allowed, verdict.gpu, verdict.findings, verdict.patch) == (True, False, [], [])
