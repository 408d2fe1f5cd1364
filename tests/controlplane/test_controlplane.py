"""The control plane itself: what the other tests take for granted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane import KUBERNETES_VERSION, ControlPlane, Response, wait_for
from tests.controlplane.loopback import DenyingWebhook
from tests.controlplane.processes import environment

CONTAINER = {"name": "main", "image": "registry.example/main"}


def pod(name: str, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"containers": [CONTAINER], **spec}}


@pytest.mark.skipif("KUBEBUILDER_ASSETS" in os.environ, reason="the programs are given, of whatever version")
def test_is_the_pinned_version(control_plane: ControlPlane) -> None:
    assert control_plane.client().get("/version").expect()["gitVersion"] == KUBERNETES_VERSION
    versions = json.loads(control_plane.kubectl("version", "-o", "json").stdout)
    assert versions["clientVersion"]["gitVersion"] == KUBERNETES_VERSION


def test_scheduler_binds_a_pod_to_a_node(control_plane: ControlPlane) -> None:
    api, namespace, node = control_plane.client(), control_plane.namespace(), f"node-{uuid.uuid4().hex[:8]}"
    taint = {"key": "example.com/gpu", "value": "present", "effect": "NoSchedule"}
    made = control_plane.add_node(node, {"pool": node}, [taint], {"nvidia.com/gpu": "8"})
    assert made["status"]["allocatable"]["nvidia.com/gpu"] == "8"
    pods = f"/api/v1/namespaces/{namespace}/pods"
    gpu = {**CONTAINER, "resources": {"limits": {"nvidia.com/gpu": "8"}}}
    common = {"containers": [gpu], "nodeSelector": {"pool": node}}

    api.post(pods, pod("untolerating", **common)).expect(201)
    unschedulable = wait_for(lambda: scheduled(api.get(f"{pods}/untolerating")), message="a scheduling verdict")
    assert unschedulable["status"] == "False"
    assert "had untolerated taint(s)" in unschedulable["message"]

    api.post(pods, pod("tolerating", **common, tolerations=[{"operator": "Exists"}])).expect(201)
    wait_for(lambda: api.get(f"{pods}/tolerating").expect()["spec"].get("nodeName") == node, message="binding")
    api.delete(f"/api/v1/nodes/{node}").expect()


def scheduled(response: Response) -> dict[str, Any]:
    """The pod's condition PodScheduled, empty until the scheduler has seen the pod."""
    conditions = response.expect()["status"].get("conditions", [])
    return next((condition for condition in conditions if condition["type"] == "PodScheduled"), {})


def test_deployment_makes_pods_as_the_controller(control_plane: ControlPlane) -> None:
    namespace = control_plane.namespace()
    control_plane.kubectl("create", "deployment", "web", "--image=registry.example/web", "-n", namespace)
    pods = f"/api/v1/namespaces/{namespace}/pods"
    wait_for(lambda: control_plane.client().get(pods).expect()["items"], message="the Deployment's pod")
    events = wait_for(lambda: control_plane.audit_events(namespace, "pods", verb="create"), message="its event")
    assert events[0]["user"]["username"] == "system:serviceaccount:kube-system:replicaset-controller"


def test_audit_log_has_writes_and_no_reads(control_plane: ControlPlane) -> None:
    namespace = control_plane.namespace(labels={"example.com/team": "a"})
    control_plane.client().get(f"/api/v1/namespaces/{namespace}").expect(200)
    events = wait_for(lambda: control_plane.audit_events(name=namespace, resource="namespaces"), message="events")
    assert {event["verb"] for event in events} == {"create"}
    assert {event["stage"] for event in events} == {"ResponseComplete"}


def test_user_without_rights_is_forbidden(control_plane: ControlPlane) -> None:
    kubeconfig = control_plane.kubeconfig_for("jane", ["team-a"])
    result = control_plane.kubectl("get", "nodes", kubeconfig=kubeconfig, check=False)
    assert result.returncode != 0
    assert 'User "jane" cannot list resource "nodes"' in result.stderr
    assert control_plane.client("jane", ["team-a"]).get("/api/v1/nodes").status == 403
    whoami = control_plane.kubectl("auth", "whoami", "-o", "json", kubeconfig=kubeconfig)
    assert json.loads(whoami.stdout)["status"]["userInfo"]["groups"] == ["team-a", "system:authenticated"]


def test_failed_kubectl_says_why(control_plane: ControlPlane) -> None:
    with pytest.raises(AssertionError, match="NotFound"):
        control_plane.kubectl("get", "pod", "missing")


def test_metrics_are_text(control_plane: ControlPlane) -> None:
    assert "apiserver_admission_controller_admission_duration_seconds" in control_plane.metrics()


def test_webhook_on_loopback_is_called_and_audited(control_plane: ControlPlane, tmp_path: Path) -> None:
    api, namespace = control_plane.client(), control_plane.namespace()
    pods, unnamed = f"/api/v1/namespaces/{namespace}/pods", {"generateName": "pod-"}
    with DenyingWebhook(tmp_path, "no GPU for you") as webhook:
        configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        api.post(configurations, webhook.configuration(namespace)).expect(201)
        try:
            denied = wait_for(lambda: refused(api.post(pods, {**pod(""), "metadata": unnamed})))
        finally:
            api.delete(f"{configurations}/{namespace}").expect()
    assert denied["code"] == 403
    assert denied["message"].endswith("denied the request: no GPU for you")
    annotation = "deny.example.com/mode"
    annotated = wait_for(
        lambda: [e for e in control_plane.audit_events(namespace, "pods") if annotation in e["annotations"]]
    )
    assert annotated[-1]["annotations"][annotation] == "enforce"


def refused(response: Response) -> dict[str, Any] | None:
    """The API server takes a moment to see a new webhook; until then it admits."""
    return response.body if response.status >= 400 else None


def test_own_control_plane_is_another(control_plane: ControlPlane, own_control_plane: ControlPlane) -> None:
    namespace = own_control_plane.namespace()
    assert control_plane.client().get(f"/api/v1/namespaces/{namespace}").status == 404


def test_programs_get_no_proxy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    assert not [name for name in environment(tmp_path) if "proxy" in name.lower()]


OWNER = """
import sys
from tests.controlplane.keeper import Keeper, ask
keeper = Keeper()
plane = ask(keeper.address)
print(plane.audit_log.parent, flush=True)
sys.stdin.read()
"""


def test_nothing_is_left_when_the_owner_is_killed(control_plane: ControlPlane) -> None:
    root = Path(__file__).resolve().parents[2]
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with owner:
        assert owner.stdout is not None
        directory = Path(owner.stdout.readline().strip())
        attached = ControlPlane.attach(directory)
        assert attached.client().get("/readyz").status == 200
        attached.stop()
        assert programs_in(directory) == 4
        owner.send_signal(signal.SIGKILL)
    wait_for(lambda: programs_in(directory) == 0, message="no program running")
    wait_for(lambda: not directory.exists(), message="the directory removed")


def programs_in(directory: Path) -> int:
    """How many processes run with the directory as their working directory."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            count += (process / "cwd").readlink() == directory
        except OSError:
            continue
    return count
