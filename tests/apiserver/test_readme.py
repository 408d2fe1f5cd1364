"""The README's transcript is what happens. GPUGATE_UPDATE_GOLDENS=1 writes it anew."""

import os
import sys
from pathlib import Path

import pytest

from tests.docs.transcripts import commands, rewritten, run, write_files
from tests.support.cluster import MODE_LABEL, TEST_LABEL, Installed, gpu_pod

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture
def research(shipped: Installed) -> str:
    """The namespace `research` of the README, in enforce."""
    labels = {TEST_LABEL: shipped.run, MODE_LABEL: "enforce"}
    shipped.plane.client().post("/api/v1/namespaces", {"metadata": {"name": "research", "labels": labels}}).expect(201)

    def injected() -> bool:
        answer = shipped.create("research", gpu_pod("probe"), dry_run=True)
        return answer.status == 201 and "nodeSelector" in answer.body["spec"]

    shipped.plane.wait_for(injected, message="the namespace research under gpugate")
    return "research"


def test_the_transcript_of_the_readme(shipped: Installed, research: str, tmp_path: Path) -> None:
    page = README.read_text()
    write_files(page, tmp_path)
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{shipped.plane.programs}:{os.environ['PATH']}",
        "KUBECONFIG": str(shipped.plane.kubeconfig),
        "HOME": str(tmp_path),
    }
    shown = list(commands(page))
    outputs = [run(command.line, tmp_path, environment) for command in shown]
    if os.environ.get("GPUGATE_UPDATE_GOLDENS") == "1":
        README.write_text(rewritten(page, outputs))
    assert outputs == [command.output for command in shown]
    assert len(shown) >= 4
