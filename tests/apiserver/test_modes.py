"""The ladder of modes: what each adds, who chooses it, and that a label is enough to change it."""

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.controlplane import ControlPlane, wait_for
from tests.support.cluster import MODE_LABEL, TEST_LABEL, Installed, cpu_pod, gpu_pod, installed
from tests.support.server import Server

PRIVILEGED = gpu_pod("privileged")
PRIVILEGED["spec"]["containers"][0]["securityContext"] = {"privileged": True}
UNEQUAL = gpu_pod("unequal")
UNEQUAL["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": 8}, "requests": {"nvidia.com/gpu": 6}}
INJECTED = {"runtimeClassName", "overhead"}


def changed(pod: dict[str, Any]) -> bool:
    return bool(INJECTED | {"nodeSelector"} <= pod["spec"].keys())


def unchanged(pod: dict[str, Any]) -> bool:
    spec = pod["spec"]
    keys = [entry["key"] for entry in spec.get("tolerations", [])]
    return "nodeSelector" not in spec and not INJECTED & spec.keys() and "nvidia.com/gpu" not in keys


def apply(plane: ControlPlane, namespace: str, pod: dict[str, Any]) -> str:
    """What kubectl prints on stderr; the pod must be created."""
    return plane.kubectl("apply", "-n", namespace, "-f", "-", input=json.dumps(pod)).stderr


def test_audit_changes_nothing_and_leaves_its_record(shipped: Installed) -> None:
    namespace = shipped.namespace("audit")
    assert apply(shipped.plane, namespace, PRIVILEGED) == ""
    assert unchanged(shipped.pod(namespace, "privileged"))
    record = shipped.record(namespace, "privileged", "findings", "changes")
    assert record["mutate-audit.gpugate.dev/mode"] == "audit"
    changes = record["mutate-audit.gpugate.dev/changes"].splitlines()
    assert 'repair gpu-pods/runtime-class: runtimeClassName set to "nvidia"' in changes
    findings = record["validate-audit.gpugate.dev/findings"]
    assert findings.startswith('deny gpu-pods/no-privileged: container "main": privileged is true')
    metrics = shipped.server.metrics()
    denied = {"policy": "gpu-pods", "rule": "no-privileged", "mode": "audit", "outcome": "deny"}
    assert any(
        name == "gpugate_rule_results_total" and dict(labels) == denied and value >= 1
        for (name, labels), value in metrics.items()
    )


@pytest.mark.parametrize("mode", ["audit", "warn"])
def test_what_the_api_server_itself_refuses_is_on_record_too(shipped: Installed, mode: str) -> None:
    namespace = shipped.namespace(mode)
    refused = shipped.create(namespace, UNEQUAL)
    assert refused.status == 422
    assert "must be equal to nvidia.com/gpu limit of 8" in refused.body["message"]
    record = shipped.record(namespace, "unequal", "findings")
    assert "nvidia.com/gpu request 6 is not its limit 8" in record[f"mutate-{mode}.gpugate.dev/findings"]
    warnings = refused.headers.get_all("Warning") or []
    assert any("request 6 is not its limit 8" in warning for warning in warnings) == (mode == "warn")


def test_warn_tells_the_user_what_would_be_refused_and_changed(shipped: Installed) -> None:
    namespace = shipped.namespace("warn")
    said = apply(shipped.plane, namespace, PRIVILEGED).splitlines()
    assert unchanged(shipped.pod(namespace, "privileged"))
    assert (
        'Warning: gpu-pods/no-privileged: container "main": privileged is true, which lets it use every GPU of the '
        "node; set securityContext.privileged to false" in said
    )
    assert 'Warning: would be changed: gpu-pods/runtime-class: runtimeClassName set to "nvidia"' in said
    assert len(said) == len(set(said))


def test_assist_changes_and_warns(shipped: Installed) -> None:
    namespace = shipped.namespace("assist")
    said = apply(shipped.plane, namespace, PRIVILEGED).splitlines()
    assert changed(shipped.pod(namespace, "privileged"))
    assert [line.partition(" is true")[0] for line in said] == [
        'Warning: gpu-pods/no-privileged: container "main": privileged'
    ]


def test_a_namespace_without_a_label_or_with_a_meaningless_one_has_the_default(shipped: Installed) -> None:
    for labels in ({}, {MODE_LABEL: "enforced"}, {MODE_LABEL: "disabled"}):
        namespace = shipped.namespace(labels=labels)
        shipped.created(namespace, PRIVILEGED)
        record = shipped.record(namespace, "privileged", "findings", "changes")
        assert {key.split(".")[0] for key in record} <= {"mutate-audit", "validate-audit"}


def test_pods_without_gpus_never_reach_the_webhook(shipped: Installed) -> None:
    namespaces = [shipped.namespace(mode) for mode in ("enforce", "assist", "warn", "audit", None)]
    before = shipped.calls()
    for index in range(50):
        shipped.created(namespaces[index % len(namespaces)], cpu_pod(f"cpu-{index}"))
    assert shipped.calls() == before


def test_a_label_changes_the_mode_with_no_restart(shipped: Installed) -> None:
    namespace = shipped.namespace("audit")
    shipped.created(namespace, PRIVILEGED)

    def refused() -> bool:
        return shipped.create(namespace, PRIVILEGED, dry_run=True).status == 403

    shipped.plane.client().delete(f"/api/v1/namespaces/{namespace}/pods/privileged", {"gracePeriodSeconds": 0})
    wait_for(lambda: shipped.create(namespace, PRIVILEGED, dry_run=True).status == 201, message="the pod to be gone")
    shipped.plane.kubectl("label", "namespace", namespace, f"{MODE_LABEL}=enforce", "--overwrite")
    wait_for(refused, message="the namespace in enforce")
    shipped.plane.kubectl("label", "namespace", namespace, f"{MODE_LABEL}-")
    wait_for(lambda: not refused(), message="the namespace back in the default")


def test_a_pinned_namespace_ignores_its_label(plane: ControlPlane, tmp_path: Path) -> None:
    run = uuid.uuid4().hex[:8]
    enforced = plane.namespace("pinned", {TEST_LABEL: run, MODE_LABEL: "audit"})
    disabled = plane.namespace("pinned", {TEST_LABEL: run, MODE_LABEL: "enforce"})
    document: dict[str, Any] = yaml.safe_load(Path("policies/gpu-pods.yaml").read_bytes())
    document["spec"]["modes"]["namespaces"] = {enforced: "enforce", disabled: "disabled"}
    policy = tmp_path / "policy.yaml"
    policy.write_text(yaml.safe_dump(document))
    with Server(policy, drains=False) as server, installed(plane, server, policy, run) as gate:
        refused = gate.create(enforced, PRIVILEGED)
        assert refused.status == 403
        assert 'webhook "validate-enforce' in refused.body["message"]
        before = gate.calls()
        assert unchanged(gate.created(disabled, PRIVILEGED))
        assert gate.calls() == before


def test_dry_runs_are_judged_and_marked(shipped: Installed) -> None:
    namespace = shipped.namespace("enforce")
    before = shipped.calls(dry_run="true", verdict="refused")
    assert shipped.create(namespace, PRIVILEGED, dry_run=True).status == 403
    assert shipped.calls(dry_run="true", verdict="refused") == before + 1
