"""docs/operations.md, run on a real control plane; with the server dead, what it says lets pods through again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.controlplane import ControlPlane
from tests.deploy.objects import CHART, KUSTOMIZE, ROOT
from tests.deploy.pages import blocks, sh
from tests.support.cluster import gpu_pod, nvidia_runtime_class

PAGE = ROOT / "docs/operations.md"
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
PODS = "/api/v1/namespaces/default/pods?dryRun=All"


@pytest.fixture(scope="module")
def plane(own_control_plane: ControlPlane) -> ControlPlane:
    nvidia_runtime_class(own_control_plane)
    return own_control_plane


@pytest.fixture
def folder(plane: ControlPlane, tmp_path: Path) -> Iterator[Path]:
    """With a policy by which every namespace is in enforce; afterwards the cluster is empty again."""
    (tmp_path / "gpugate.yaml").write_text((KUSTOMIZE / "overlays/enforce/gpu-pods.yaml").read_text())
    yield tmp_path
    run(plane, tmp_path, "Uninstall")
    plane.kubectl("label", "namespace", "default", "gpugate.dev/mode-")


def run(plane: ControlPlane, folder: Path, section: str) -> str:
    return "".join(sh(plane, block, folder) for block in blocks(PAGE, section))


def refused(plane: ControlPlane) -> bool:
    """A GPU pod cannot be created, as nobody answers."""
    answer = plane.client().post(PODS, gpu_pod("trainer"))
    return answer.status == 500 and "failed calling webhook" in answer.body["message"]


def admitted(plane: ControlPlane) -> bool:
    return plane.client().post(PODS, gpu_pod("trainer")).status == 201


def dead(plane: ControlPlane, folder: Path) -> None:
    """The installation as the keeper leaves it, its configurations filled, and no server."""
    run(plane, folder, "Install")
    filled = "gpugate manifests --policy gpugate.yaml --service gpugate/gpugate"
    sh(plane, f"{filled} | kubectl apply --server-side --force-conflicts --field-manager=gpugate -f -", folder)
    plane.wait_for(lambda: refused(plane), message="GPU pods refused while no server answers")


def test_the_way_in_and_through_a_life(plane: ControlPlane, folder: Path) -> None:
    assert "deployment.apps/gpugate created" in run(plane, folder, "Install")
    assert "configured" in run(plane, folder, "Change the policy")
    assert "deployment.apps/gpugate configured" in run(plane, folder, "Upgrade")
    assert "rolled back" in run(plane, folder, "Roll back")
    deployment = plane.client().get("/apis/apps/v1/namespaces/gpugate/deployments/gpugate").expect(200)
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "registry.example.com/gpugate:0.1.0"
    run(plane, folder, "Rotate")
    run(plane, folder, "After a disaster")
    assert admitted(plane), "empty configurations refuse nothing"


def diff(plane: ControlPlane, folder: Path, more: str) -> tuple[str, str]:
    """The exit code and the output of a comparison with the cluster."""
    command = f"gpugate manifests --policy gpugate.yaml {more} --diff && echo same || echo $?"
    *shown, code = sh(plane, command, folder).splitlines()
    return code, "\n".join(shown)


def test_what_applying_would_change_is_shown_and_nothing_else(plane: ControlPlane, folder: Path) -> None:
    code, shown = diff(plane, folder, "--install")
    assert (code, shown.count("--- cluster/")) == ("1", 21)
    dead(plane, folder)
    image = "--install --image registry.example.com/gpugate"
    assert diff(plane, folder, f"{image}:0.1.0") == ("same", "")
    code, shown = diff(plane, folder, f"{image}:0.1.1")
    assert code == "1"
    assert shown.count("--- cluster/apis/apps/v1/namespaces/gpugate/deployments/") == shown.count("--- ") == 2
    assert "+          image: registry.example.com/gpugate:0.1.1" in shown
    # Entries that somebody has applied, and not the keeper, go with the policy that they were made from.
    run(plane, folder, "When nothing else helps")
    sh(plane, "gpugate manifests --policy gpugate.yaml --service gpugate/gpugate | kubectl apply -f -", folder)
    (folder / "gpugate.yaml").write_text((KUSTOMIZE / "overlays/audit/gpu-pods.yaml").read_text())
    code, shown = diff(plane, folder, "--service gpugate/gpugate")
    assert code == "1"
    assert "-  - name: mutate-enforce-gpu.gpugate.dev" in shown


def test_with_the_server_dead_uninstalling_lets_pods_through(plane: ControlPlane, folder: Path) -> None:
    dead(plane, folder)
    deleted = run(plane, folder, "Uninstall")
    assert deleted.index("validatingwebhookconfiguration") < deleted.index("namespace")
    plane.wait_for(lambda: admitted(plane), message="GPU pods admitted")
    assert plane.client().get("/api/v1/namespaces/gpugate").status == 404
    left = plane.kubectl("get", "clusterroles,clusterrolebindings,validatingadmissionpolicies", "-o", "name").stdout
    assert "gpugate" not in left


def test_with_the_server_dead_the_emergency_command_lets_pods_through(plane: ControlPlane, folder: Path) -> None:
    dead(plane, folder)
    run(plane, folder, "When nothing else helps")
    plane.wait_for(lambda: admitted(plane), message="GPU pods admitted")


def test_upgrades_leave_alone_what_the_keeper_filled_in(plane: ControlPlane, folder: Path) -> None:
    run(plane, folder, "Install")
    webhook = first_webhook(folder, plane)
    plane.client().patch(f"{CONFIGURATIONS}/gpugate", {"webhooks": [webhook]}).expect(200)
    run(plane, folder, "Upgrade")
    assert len(plane.client().get(f"{CONFIGURATIONS}/gpugate").expect(200)["webhooks"]) == 1
    empty = (KUSTOMIZE / "base/webhooks.yaml").read_text()
    plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=empty)
    assert len(plane.client().get(f"{CONFIGURATIONS}/gpugate").expect(200)["webhooks"]) == 1


def first_webhook(folder: Path, plane: ControlPlane) -> dict[str, Any]:
    printed = sh(plane, "gpugate manifests --policy gpugate.yaml --url https://127.0.0.1:1", folder)
    objects = list(yaml.safe_load_all(printed))
    first: dict[str, Any] = next(obj for obj in objects if obj["kind"].startswith("Validating") and "webhooks" in obj)
    return dict(first["webhooks"][0])


def test_with_the_server_dead_helm_uninstalls(plane: ControlPlane, folder: Path) -> None:
    options = "--set keeper.enabled=false,certificates.provider=secret"
    sh(plane, f"helm install gpugate {CHART} -n gpugate --create-namespace {options}", folder)
    plane.kubectl("label", "namespace", "default", "gpugate.dev/mode=enforce", "--overwrite")
    plane.wait_for(lambda: refused(plane), message="GPU pods refused while no server answers")
    sh(plane, "helm uninstall gpugate -n gpugate", folder)
    plane.wait_for(lambda: admitted(plane), message="GPU pods admitted")
