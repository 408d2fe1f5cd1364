"""What a test that needs the control plane does where it cannot be built."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = """
def test_shared(control_plane): pass
def test_own(own_control_plane): pass
"""


def run(directory: Path, required: str, *options: str) -> str:
    """The summary of a run with nothing in the cache and no Go to build with."""
    (directory / "test_it.py").write_text(TESTS)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {
        "PATH": str(directory),
        "GPUGATE_CACHE": str(directory / "cache"),
        "PYTHONPATH": str(ROOT),
    }
    environment |= {"PYTHONPATH": str(ROOT), "GPUGATE_REQUIRE_CONTROL_PLANE": required}
    environment.pop("KUBEBUILDER_ASSETS", None)
    arguments = ["-p", "tests.controlplane.plugin", "-p", "no:cacheprovider", "-rs", *options, "test_it.py"]
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return result.stdout + result.stderr


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_skips_with_the_reason(tmp_path: Path, options: tuple[str, ...]) -> None:
    output = run(tmp_path, "", *options)
    assert "2 skipped" in output
    assert "needs Go, and there is none on PATH" in output


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_is_an_error_where_required(tmp_path: Path, options: tuple[str, ...]) -> None:
    output = run(tmp_path, "1", *options)
    assert "2 errors" in output
    assert "needs Go, and there is none on PATH" in output
