"""docs/quickstart.md, run on a real control plane: from an empty cluster to a scheduled GPU pod."""

from pathlib import Path

import yaml

from tests.controlplane import ControlPlane
from tests.deploy.objects import ROOT
from tests.deploy.pages import blocks, sh
from tests.support.cluster import gpu_pod
from tests.support.server import Server


def test_each_step_of_the_quick_start(own_control_plane: ControlPlane, tmp_path: Path) -> None:
    plane = own_control_plane
    plane.add_node("gpu-node-01", capacity={"nvidia.com/gpu": "8"})
    plane.add_node("cpu-node-01")
    (tmp_path / "deploy").symlink_to(ROOT / "deploy")
    with Server("shipped", drains=False) as server:
        where = {"GPUGATE": server.url, "CA": str(server.ca_file)}
        *steps, workload, look = blocks(ROOT / "docs/quickstart.md")
        for step in steps:
            sh(plane, step, tmp_path, where)
        pods = "/api/v1/namespaces/ml-serving/pods?dryRun=All"

        def injected() -> bool:
            answer = plane.client().post(pods, gpu_pod("probe"))
            return answer.status == 201 and "runtimeClassName" in answer.body["spec"]

        plane.wait_for(injected, message="the namespace under gpugate")
        sh(plane, workload, tmp_path, where)
        plane.wait_for(
            lambda: len(plane.client().get("/api/v1/namespaces/ml-serving/pods").expect(200)["items"]) == 2,
            message="the Deployment's pods",
        )
        assert sh(plane, look, tmp_path, where).count("gpu-node-01   nvidia") == 2


def test_the_other_examples_are_what_the_api_server_takes(control_plane: ControlPlane) -> None:
    for name in ("runtimeclass.yaml", "llm-inference.yaml", "mig-config.yaml"):
        text = (ROOT / "deploy/examples" / name).read_text()
        obj = yaml.safe_load(text)
        namespace = obj["metadata"].pop("namespace", "default")
        arguments = ["apply", "--dry-run=server", "-n", namespace if namespace == "default" else "default", "-f", "-"]
        assert "server dry run" in control_plane.kubectl(*arguments, input=yaml.safe_dump(obj)).stdout
    profiles = yaml.safe_load(
        yaml.safe_load((ROOT / "deploy/examples/mig-config.yaml").read_text())["data"]["config.yaml"]
    )
    assert set(profiles["mig-configs"]) == {"inference-optimized", "training-optimized", "full-gpu"}
