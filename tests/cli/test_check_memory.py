"""`gpugate check` holds one item of a List at a time, and the file."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SIZE = 50_000_000
LIMIT = 120_000  # kB

# The peak of the process itself: what the kernel says of a child counts its parent's pages too.
PROGRAM = """
import atexit, re, sys
from pathlib import Path
from app.cli.main import run
atexit.register(lambda: print(re.search("VmHWM.*", Path("/proc/self/status").read_text())[0], file=sys.stderr))
run()
"""


def items() -> list[Any]:
    """A pod that is refused, and something large without a pod: together 100 kB."""
    resources = {"limits": {"nvidia.com/gpu": 8}, "requests": {"nvidia.com/gpu": 6}}
    spec = {"containers": [{"name": "a", "image": "b", "resources": resources}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "학습"}, "spec": spec}
    large = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "x " * 50_000}}
    return [pod, large]


def as_json(folder: Path) -> Path:
    lines = [json.dumps(each, indent=4, ensure_ascii=False).replace("\n", "\n        ") for each in items()]
    count = SIZE // sum(map(len, lines))
    listed = ",\n        ".join(lines * count)
    text = f'{{\n    "apiVersion": "v1",\n    "items": [\n        {listed}\n    ],\n    "kind": "List"\n}}\n'
    return written(folder / "list.json", text)


def as_yaml(folder: Path) -> Path:
    pod = (
        "- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: 학습\n  spec:\n    containers:\n    - name: a\n"
        "      image: b\n      resources:\n        limits: {nvidia.com/gpu: 8}\n        requests: {nvidia.com/gpu: 6}\n"
    )
    large = f"- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: c\n  data:\n    a: {'x ' * 49_999}x\n"
    count = SIZE // len(pod + large)
    return written(folder / "list.yaml", f"apiVersion: v1\nitems:\n{(pod + large) * count}kind: List\n")


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    assert path.stat().st_size > SIZE * 0.98
    return path


@pytest.mark.parametrize("write", [as_json, as_yaml])
def test_a_large_list_takes_little_more_memory_than_its_text(write: Any, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, "check", "--policy", "shipped", str(write(tmp_path))]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 1, result.stderr
    assert re.search(r"^4\d\d pods .*: 4\d\d refused; 4\d\d other objects", result.stdout, re.MULTILINE), result.stdout[
        -300:
    ]
    peak = re.search(r"VmHWM:\s+(\d+) kB", result.stderr)
    assert peak is not None
    assert int(peak[1]) < LIMIT
