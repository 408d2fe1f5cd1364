"""Policies from their sections."""

from typing import Any

import orjson

from app.policy.compiled import Policy
from app.policy.load import load

GPU_RULE = {"rule": "no-privileged"}
FENCE = {"rule": "gpu-nodes-reserved", "with": {"taintKeys": ["nvidia.com/gpu"]}}
BYPASS = {"rule": "no-gpu-bypass"}
CLASS = {"rule": "runtime-class", "with": {"default": "nvidia"}}
SELECT = {"name": "nodes", "nodeSelector": {"accelerator": "nvidia-gpu"}}


def policy(**spec: Any) -> Policy:
    """A policy of NVIDIA's preset, if its sections say nothing else."""
    document = {
        "apiVersion": "gpugate.dev/v1alpha1",
        "kind": "GpuPolicy",
        "metadata": {"name": "p"},
        "spec": {"gpus": {"presets": ["nvidia"]}, **spec},
    }
    return load([("p.json", orjson.dumps(document))])
