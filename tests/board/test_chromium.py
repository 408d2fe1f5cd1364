"""Finding the browser."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "tools" / "chromium.py"


def run(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT)], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def test_the_one_that_is_named_is_taken() -> None:
    assert run(GPUGATE_CHROMIUM=sys.executable).stdout == f"{sys.executable}\n"


def test_one_that_is_not_there_is_an_error_in_a_line(tmp_path: Path) -> None:
    missing = str(tmp_path / "chromium")
    done = run(GPUGATE_CHROMIUM=missing)
    assert done.returncode == 1
    assert done.stderr == f"tools: GPUGATE_CHROMIUM is {missing}, which is no program that can be run\n"


@pytest.mark.parametrize("name", ["chromium", "google-chrome"])
def test_one_on_the_path_is_found(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to(sys.executable)
    assert run(GPUGATE_CHROMIUM="", PATH=str(tmp_path)).stdout == f"{tmp_path / name}\n"


def test_without_one_and_without_apt_it_says_what_to_do(tmp_path: Path) -> None:
    done = run(GPUGATE_CHROMIUM="", PATH=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith(
        "tools: there is no Chromium on PATH; install Chromium (Debian: apt-get install chromium)"
    )
    assert done.stderr.count("\n") == 1
