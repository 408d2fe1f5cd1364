"""What a CI system does with its configuration: it sets variables and runs the lines with bash.

Nothing is fetched: pip takes what tests run with for installed, as it is on the path of Python.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = ("app", "policies", "docs", "pyproject.toml", "requirements.txt", "README.md", "LICENSE")
"""What gpugate's repository holds as far as an installation needs it."""

GOOD: Final = """\
apiVersion: v1
kind: Pod
metadata: {name: good}
spec:
  containers:
    - {name: main, image: "registry.example.com/a:1", resources: {limits: {nvidia.com/gpu: 1}}}
"""
BAD: Final = """\
apiVersion: v1
kind: Pod
metadata: {name: bad}
spec:
  containers:
    - name: main
      image: registry.example.com/a:1
      resources: {limits: {nvidia.com/gpu: 1}}
      securityContext: {privileged: true}
"""


def load(path: str) -> Any:
    """A YAML file of the project."""
    return yaml.safe_load((ROOT / path).read_text())


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a runner whose Python is that of the tests."""
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "PYTHONPATH": sysconfig.get_path("purelib"),
        "PIP_NO_INDEX": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        **more,
    }


def bash(script: str, folder: Path, variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a script as GitHub's runner does."""
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(
        command, cwd=folder, env=dict(variables), capture_output=True, text=True, check=False, timeout=120
    )


def checkout(folder: Path, files: Mapping[str, str]) -> Path:
    """A git repository with these files, committed."""
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    commit(folder)
    return folder


def gpugate_repository(folder: Path) -> Path:
    """A git repository with gpugate as it is here, on the branch main."""
    folder.mkdir()
    for name in SOURCE:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder)
    commit(folder)
    return folder


def commit(folder: Path) -> None:
    who = ["-c", "user.name=test", "-c", "user.email=test@example.com"]
    for command in (["init", "--quiet", "--initial-branch=main"], ["add", "."], [*who, "commit", "--quiet", "-m", "x"]):
        subprocess.run(["git", *command], cwd=folder, check=True, env=environment(folder))
