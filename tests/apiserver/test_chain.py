"""From `kubectl apply` of a Deployment to a pod bound to a GPU node, by the real scheduler."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver.data import GPU_NODE_LABELS, GPU_NODE_TAINTS, deployment, llm_inference
from tests.controlplane import ControlPlane, wait_for
from tests.support.cluster import Installed, gpu_pod, installed, nvidia_runtime_class
from tests.support.server import Server

LEFT_OUT = 'runtimeClassName "nvidia" was left out: '
GPU_NODE, CPU_NODE = "gpu-node-01", "cpu-node-01"


@pytest.fixture(scope="module")
def cluster(own_control_plane: ControlPlane) -> ControlPlane:
    """A cluster with one GPU node and one CPU node: of its own, as other tests' pods would take the GPUs."""
    nvidia_runtime_class(own_control_plane)
    own_control_plane.add_node(GPU_NODE, GPU_NODE_LABELS, GPU_NODE_TAINTS, {"nvidia.com/gpu": "8"})
    own_control_plane.add_node(CPU_NODE)
    return own_control_plane


@pytest.fixture(scope="module")
def gate(cluster: ControlPlane) -> Iterator[Installed]:
    with Server("shipped", drains=False) as server, installed(cluster, server) as made:
        yield made


def apply(plane: ControlPlane, namespace: str, obj: dict[str, Any]) -> None:
    plane.kubectl("apply", "-n", namespace, "-f", "-", input=json.dumps(obj))


def pods(plane: ControlPlane, namespace: str) -> list[dict[str, Any]]:
    return plane.client().get(f"/api/v1/namespaces/{namespace}/pods").expect(200)["items"]  # type: ignore[no-any-return]


def bound(plane: ControlPlane, namespace: str, count: int) -> list[dict[str, Any]]:
    """The pods of the namespace, once that many are bound to a node."""

    def all_bound() -> list[dict[str, Any]] | None:
        found = [pod for pod in pods(plane, namespace) if pod["spec"].get("nodeName")]
        return found if len(found) == count else None

    return wait_for(all_bound, message=f"{count} bound pods in {namespace}")


def unschedulable(plane: ControlPlane, namespace: str) -> str:
    """What the scheduler says of the namespace's pod, once it has found no node for it."""

    def said() -> str | None:
        for pod in pods(plane, namespace):
            for condition in pod["status"].get("conditions", []):
                if condition["type"] == "PodScheduled" and condition["status"] == "False":
                    return str(condition["message"])
        return None

    return wait_for(said, message="the scheduler's verdict")


def test_a_bare_gpu_deployment_stays_pending_without_gpugate(cluster: ControlPlane) -> None:
    namespace = cluster.namespace("no-gpugate")
    apply(cluster, namespace, deployment("trainer", gpu_pod()["spec"]))
    assert "untolerated taint(s)" in unschedulable(cluster, namespace)


def test_a_bare_gpu_deployment_is_bound_to_the_gpu_node_with_everything_once(gate: Installed) -> None:
    namespace = gate.namespace("enforce")
    apply(gate.plane, namespace, deployment("trainer", gpu_pod()["spec"]))
    (pod,) = bound(gate.plane, namespace, 1)
    spec = pod["spec"]
    assert spec["nodeName"] == GPU_NODE
    assert spec["runtimeClassName"] == "nvidia"
    assert spec["overhead"] == {"cpu": "100m", "memory": "128Mi"}
    assert spec["nodeSelector"] == {"accelerator": "nvidia-gpu"}
    gpu_tolerations = [entry for entry in spec["tolerations"] if entry["key"] == "nvidia.com/gpu"]
    assert gpu_tolerations == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    assert spec["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "1"}


def test_a_deployment_that_says_everything_itself_goes_through_without_a_patch(gate: Installed) -> None:
    namespace = gate.namespace("enforce")
    changed = gate.calls(verdict="changed")
    apply(gate.plane, namespace, llm_inference())
    written = llm_inference()["spec"]["template"]["spec"]
    for pod in bound(gate.plane, namespace, 2):
        assert pod["spec"]["nodeName"] == GPU_NODE
        assert pod["spec"]["nodeSelector"] == written["nodeSelector"]
        tolerations = [entry for entry in pod["spec"]["tolerations"] if entry["key"] == "nvidia.com/gpu"]
        # The class's own, wider toleration, which the API server put in the place of the written one.
        assert tolerations == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    assert gate.calls(verdict="changed") == changed


@pytest.mark.parametrize(
    ("classes", "said"),
    [
        ([], LEFT_OUT + 'the cluster has no RuntimeClass "nvidia"'),
        (
            [{"name": "nvidia", "handler": "nvidia", "scheduling": {"nodeSelector": {"accelerator": "other"}}}],
            LEFT_OUT + "its nodeSelector accelerator=other contradicts the pod's accelerator=nvidia-gpu",
        ),
    ],
    ids=["missing", "conflicting"],
)
def test_a_class_that_the_api_server_would_refuse_is_left_out_with_a_warning(
    cluster: ControlPlane, tmp_path: Path, classes: list[dict[str, Any]], said: str
) -> None:
    facts = tmp_path / "facts.json"
    facts.write_text(json.dumps({"version": 1, "runtimeClasses": classes}))
    with Server("shipped", cluster_facts=facts, drains=False) as server, installed(cluster, server) as gate:
        namespace = gate.namespace("enforce")
        applied = cluster.kubectl("apply", "-n", namespace, "-f", "-", input=json.dumps(gpu_pod("left-out")))
        assert f"Warning: gpu-pods/runtime-class: {said}" in applied.stderr
        pod = gate.pod(namespace, "left-out")
        assert "runtimeClassName" not in pod["spec"]
        assert pod["spec"]["nodeSelector"] == {"accelerator": "nvidia-gpu"}
        (pod,) = bound(cluster, namespace, 1)
        assert pod["spec"]["nodeName"] == GPU_NODE
