"""The transcripts of docs/rollout.md are what happens. GPUGATE_UPDATE_GOLDENS=1 writes them anew."""

import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.controlplane import ControlPlane
from tests.docs.transcripts import commands, rewritten, run
from tests.support.workloads import BAD, GOOD, PATHS, create, deployment

PAGE = Path(__file__).parents[2] / "docs/rollout.md"
NODE = "rollout-gpu-node"


@pytest.fixture
def namespaces(plane: ControlPlane) -> Iterator[None]:
    """The namespaces of the page, with a node that answers to what is injected."""
    api = plane.client()
    # Nobody's pods go there.
    taint = {"key": "gpugate.test/nobody", "effect": "NoSchedule"}
    plane.add_node(NODE, labels={"accelerator": "nvidia-gpu"}, taints=[taint])
    for name in ("vision", "speech"):
        api.post("/api/v1/namespaces", {"metadata": {"name": name}}).expect(201)
        path = f"/api/v1/namespaces/{name}/serviceaccounts/default"
        plane.wait_for(partial(_there, plane, path), message=f"namespace {name}")
    create(plane, "vision", deployment("lab", BAD, 1), deployment("ocr", GOOD, 2))
    create(plane, "speech", deployment("asr", GOOD, 0))

    def running() -> bool:
        return len(api.get(PATHS["Pod"].format("vision")).expect(200)["items"]) == 3

    plane.wait_for(running, message="the pods of vision")
    yield
    api.delete(f"/api/v1/nodes/{NODE}")


def _there(plane: ControlPlane, path: str) -> bool:
    return plane.client().get(path).status == 200


def test_the_transcripts_of_the_page(plane: ControlPlane, namespaces: None, tmp_path: Path) -> None:
    page = PAGE.read_text()
    (tmp_path / "intern.kubeconfig").write_bytes(plane.kubeconfig_for("intern").read_bytes())
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{plane.programs}:{os.environ['PATH']}",
        "KUBECONFIG": str(plane.kubeconfig),
        "HOME": str(tmp_path),
        "GPUGATE_POLICY": "shipped",
    }
    shown = list(commands(page))
    outputs = [run(command.line, tmp_path, environment) for command in shown]
    if os.environ.get("GPUGATE_UPDATE_GOLDENS") == "1":
        PAGE.write_text(rewritten(page, outputs))
    assert outputs == [command.output for command in shown]
    assert len(shown) >= 8
