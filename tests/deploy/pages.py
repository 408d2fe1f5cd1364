"""The commands of a page: its ``sh`` blocks, run in order as a reader would."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.controlplane import ControlPlane
from tests.tools import programs_directory

_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, section: str | None = None) -> list[str]:
    """The blocks of the page, or of one of its sections."""
    text = page.read_text()
    if section:
        text = text.partition(f"## {section}\n")[2].partition("\n## ")[0]
    found = _BLOCK.findall(text)
    assert found, f"{page.name} has no commands in {section}"
    return found


def sh(plane: ControlPlane, block: str, folder: Path, more: Mapping[str, str] | None = None) -> str:
    """What the block prints; each command of it must succeed."""
    path = f"{Path(sys.executable).parent}:{plane.programs}:{programs_directory()}:{os.environ['PATH']}"
    environment = {"PATH": path, "KUBECONFIG": str(plane.kubeconfig), "HOME": str(folder), **(more or {})}
    result = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert result.returncode == 0, f"{block}\n{result.stdout}{result.stderr}"
    return result.stdout
