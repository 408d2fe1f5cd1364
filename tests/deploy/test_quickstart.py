"""docs/quickstart.md, run on a real control plane: from an empty cluster to a scheduled GPU pod; deploy/examples.

No kubelet runs the image here. The installation is applied as the page says, and its pods are made and stay Pending;
what the keeper would then write into the webhook configurations, the page's command for a server outside does.
"""

from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from click.testing import CliRunner

from app.cli.main import command as gpugate
from tests.controlplane import ControlPlane
from tests.deploy.objects import CRDS, ROOT
from tests.deploy.pages import blocks, sh
from tests.support.cluster import gpu_pod
from tests.support.server import Server

PAGE: Final = ROOT / "docs/quickstart.md"
EXAMPLES: Final = ROOT / "deploy/examples"
CRD: Final = "servicemonitors.monitoring.coreos.com"


@pytest.fixture
def crds(control_plane: ControlPlane) -> ControlPlane:
    """With the kind ServiceMonitor."""
    control_plane.kubectl("apply", "--server-side", "-f", str(CRDS / "monitoring.coreos.com_servicemonitors.yaml"))
    control_plane.kubectl("wait", "--for=condition=Established", f"crd/{CRD}", "--timeout=60s")
    return control_plane


def items(plane: ControlPlane, namespace: str) -> list[dict[str, Any]]:
    """The namespace's pods."""
    found = plane.client().get(f"/api/v1/namespaces/{namespace}/pods").expect(200)["items"]
    assert isinstance(found, list)
    return found


def test_each_step_of_the_quick_start(own_control_plane: ControlPlane, tmp_path: Path) -> None:
    plane = own_control_plane
    plane.add_node("gpu-node-01", capacity={"nvidia.com/gpu": "8"})
    plane.add_node("cpu-node-01")
    (tmp_path / "deploy").symlink_to(ROOT / "deploy")
    with Server("shipped", drains=False) as server:
        where = {"GPUGATE": server.url, "CA": str(server.ca_file)}
        *steps, workload, look = blocks(PAGE)
        for step in steps:
            sh(plane, step, tmp_path, where)
        plane.wait_for(lambda: len(items(plane, "gpugate")) >= 4, message="the pods of three servers and a keeper")
        pods = "/api/v1/namespaces/ml-serving/pods?dryRun=All"

        def injected() -> bool:
            answer = plane.client().post(pods, gpu_pod("probe"))
            return answer.status == 201 and "runtimeClassName" in answer.body["spec"]

        plane.wait_for(injected, message="the namespace under gpugate")
        sh(plane, workload, tmp_path, where)
        plane.wait_for(lambda: len(items(plane, "ml-serving")) == 2, message="the Deployment's pods")
        assert sh(plane, look, tmp_path, where).count("gpu-node-01   nvidia") == 2


def test_each_example_is_what_the_api_server_takes(crds: ControlPlane) -> None:
    for path in sorted(EXAMPLES.glob("*.yaml")):
        obj = yaml.safe_load(path.read_text())
        if namespace := obj["metadata"].get("namespace"):
            crds.client().post("/api/v1/namespaces", {"metadata": {"name": namespace}}).expect(201, 409)
        applied = crds.kubectl("apply", "--dry-run=server", "-f", str(path))
        assert "(server dry run)" in applied.stdout, path.name
        assert "unknown field" not in applied.stderr, path.name


def test_check_admits_the_examples_with_what_gpugate_adds() -> None:
    result = CliRunner().invoke(gpugate, ["check", "--policy", "shipped", str(EXAMPLES)])
    assert result.exit_code == 0, result.output
    assert "Deployment default/llm-inference" in result.output
    for added in ('runtimeClassName set to "nvidia"', "toleration added", "nodeSelector accelerator=nvidia-gpu added"):
        assert added in result.output


def test_the_node_of_the_files_is_that_of_the_commands() -> None:
    node = yaml.safe_load((EXAMPLES / "gpu-node.yaml").read_text())
    labels = " ".join(f"{key}={value}" for key, value in node["metadata"]["labels"].items())
    (taint,) = node["spec"]["taints"]
    page = "\n".join(blocks(PAGE))
    assert f"kubectl label node {node['metadata']['name']} {labels}\n" in page
    assert f"{taint['key']}={taint['value']}:{taint['effect']}\n" in page


def test_the_profiles_of_mig_and_the_files_have_their_place() -> None:
    profiles = yaml.safe_load(yaml.safe_load((EXAMPLES / "mig-config.yaml").read_text())["data"]["config.yaml"])
    assert set(profiles["mig-configs"]) == {"inference-optimized", "training-optimized", "full-gpu"}
    readme = (EXAMPLES / "README.md").read_text()
    for path in EXAMPLES.glob("*.yaml"):
        assert f"`{path.name}`" in readme
