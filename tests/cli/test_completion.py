"""`gpugate completion`: what shells and kubectl complete."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.main import COMMANDS
from tests.cli.conftest import Gpugate

ROOT = Path(__file__).parents[2]


@pytest.fixture
def programs(folder: Path) -> Path:
    """A folder with gpugate in it, for PATH."""
    found = folder / "bin"
    found.mkdir()
    (found / "gpugate").write_text(
        f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -P -c "from app.cli.main import run; run()" "$@"\n'
    )
    (found / "gpugate").chmod(0o755)
    return found


def run(programs: Path, *command: str) -> str:
    environment = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "HOME": str(programs)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell(gpugate: Gpugate, shell: str) -> None:
    outcome = gpugate("completion", shell)
    assert outcome.code == 0
    assert f"_GPUGATE_COMPLETE={shell}_complete" in outcome.out
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=outcome.out, text=True, check=True)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["ex"], ["except", "explain"]),
        (["explain", ""], ["file", "injection", "rule"]),
        (["explain", "rule", "no-"], ["no-privileged", "no-gpu-bypass"]),
        (["except", "team-a", "max"], ["max-gpus"]),
        (["check", "--mode", "en"], ["enforce"]),
    ],
)
def test_bash_completes(gpugate: Gpugate, programs: Path, words: list[str], found: list[str]) -> None:
    script = gpugate("completion", "bash").out
    line = " ".join(f'"{word}"' for word in ["gpugate", *words])
    script += f'\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; _gpugate_completion gpugate; echo "${{COMPREPLY[@]}}"\n'
    assert run(programs, "bash", "-c", script).split() == found


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["ex"], ["except", "explain", ":4"]),
        ([""], [*sorted(COMMANDS), ":4"]),
        (["explain", "rule", "no-"], ["no-privileged", "no-gpu-bypass", ":4"]),
        (["test", ""], [":0"]),
        (["explain", "file", "x"], [":0"]),
    ],
)
def test_kubectl_completes(gpugate: Gpugate, programs: Path, words: list[str], found: list[str]) -> None:
    plugin = programs / "kubectl_complete-gpugate"
    plugin.write_text(gpugate("completion", "kubectl").out)
    plugin.chmod(0o755)
    assert run(programs, str(plugin), *words).splitlines() == found
