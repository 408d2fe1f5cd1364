"""docs/from-kyverno.md: its transcripts are run."""

import os
import sys
from pathlib import Path

from tests.docs.transcripts import commands, rewritten, run, write_files

PAGE = Path(__file__).parents[2] / "docs" / "from-kyverno.md"


def test_transcripts(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    write_files(page, tmp_path)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "PYTHONIOENCODING": "utf-8", "LC_ALL": "C.UTF-8"}
    outputs = [run(command.line, tmp_path, environment) for command in commands(page)]
    expected = rewritten(page, outputs)
    if os.environ.get("GPUGATE_UPDATE_GOLDENS"):
        PAGE.write_text(expected, encoding="utf-8")
        return
    assert expected == page
