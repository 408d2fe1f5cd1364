"""`gpugate check` holds one item of a List at a time, and the file."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.memory import measured

SIZE = 50_000_000
LIMIT = 117  # MiB


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
    done = measured("check", "--policy", "shipped", str(write(tmp_path)))
    assert done.code == 1, done.err
    assert re.search(r"^4\d\d pods .*: 4\d\d refused; 4\d\d other objects", done.out, re.MULTILINE), done.out[-300:]
    assert done.peak < LIMIT
