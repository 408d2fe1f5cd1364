"""Objects of the document that the project started from."""

from typing import Any

GPU_NODE_LABELS = {"accelerator": "nvidia-gpu", "gpu.nvidia.com/model": "A100", "gpu.nvidia.com/memory": "80Gi"}
GPU_NODE_TAINTS = [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]


def deployment(name: str, pod_spec: dict[str, Any], replicas: int = 1) -> dict[str, Any]:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod_spec},
        },
    }


def llm_inference() -> dict[str, Any]:
    """The Deployment that says everything itself: class, selector, toleration, limits equal to requests."""
    return deployment(
        "llm-inference",
        {
            "runtimeClassName": "nvidia",
            "nodeSelector": {"accelerator": "nvidia-gpu", "gpu.nvidia.com/model": "A100"},
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"}],
            "containers": [
                {
                    "name": "vllm",
                    "image": "vllm/vllm-openai:v0.6.4",
                    "args": ["--model", "meta-llama/Llama-3.1-8B-Instruct", "--tensor-parallel-size", "1"],
                    "resources": {
                        "requests": {"cpu": "4", "memory": "32Gi", "nvidia.com/gpu": 1},
                        "limits": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": 1},
                    },
                    "readinessProbe": {"httpGet": {"path": "/health", "port": 8000}, "initialDelaySeconds": 120},
                }
            ],
        },
        replicas=2,
    )
