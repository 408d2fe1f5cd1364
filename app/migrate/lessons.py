"""Where a rule of Kyverno is known to be wrong about GPU pods: what a probe shows about the rule that it becomes.

A difference that is not among these is no improvement, but a difference.
"""

from typing import Final, Literal

Direction = Literal["refuses", "admits", "changes"]

_SIDECAR: Final = "refuses a GPU pod with a sidecar that asks for no GPU: what it asks, it asks of every container"
_ZERO: Final = "takes a limit of 0 for a GPU"
_INIT: Final = "does not see a GPU in an init container"

LESSONS: Final[dict[tuple[str, str, Direction], str]] = {
    ("limits-equal-requests", "sidecar", "refuses"): _SIDECAR,
    ("limits-equal-requests", "privileged-sidecar", "refuses"): _SIDECAR,
    ("limits-equal-requests", "init-request-only", "admits"): _INIT,
    ("limits-equal-requests", "differs", "admits"): "lets a request through that is not its limit",
    ("limits-equal-requests", "request-only", "admits"): "lets a request without a limit through",
    ("limits-equal-requests", "zero", "refuses"): _ZERO,
    ("no-privileged", "privileged-sidecar", "admits"): "does not look at sidecars",
    ("no-privileged", "privileged-init", "admits"): "does not look at init containers",
    ("no-privileged", "privileged-ephemeral", "admits"): "does not look at ephemeral containers (kubectl debug)",
    ("no-privileged", "privileged-beside-gpu-in-init", "admits"): _INIT,
    ("runtime-class", "init-no-class", "admits"): _INIT,
    ("runtime-class", "init-no-class", "changes"): _INIT,
    ("runtime-class", "init-request-only", "admits"): _INIT,
    ("runtime-class", "zero", "refuses"): _ZERO,
    ("runtime-class", "zero", "changes"): _ZERO,
    (
        "runtime-class",
        "other-class",
        "changes",
    ): "overwrites the class that a pod names; gpugate refuses it and says so",
    ("max-gpus", "too-many-in-init", "admits"): _INIT,
    ("no-gpu-bypass", "variable", "admits"): "does not look at NVIDIA_VISIBLE_DEVICES",
    ("no-gpu-bypass", "variable-void", "refuses"): "refuses NVIDIA_VISIBLE_DEVICES=void, which hides GPUs",
    ("no-gpu-bypass", "variable-in-init", "admits"): "does not look at init containers",
    ("no-gpu-bypass", "device", "admits"): "does not look at devices of the node (hostPath)",
    ("tolerations", "tolerates", "changes"): "adds a toleration again that the pod has",
    ("tolerations", "tolerates-other", "changes"): "throws away the tolerations that a pod has of its own",
    ("tolerations", "init-to-place", "changes"): _INIT,
    ("tolerations", "zero", "changes"): _ZERO,
    ("nodeSelector", "selected-otherwise", "changes"): (
        "overwrites the pod's own choice of nodes; gpugate refuses it and says so"
    ),
    ("nodeSelector", "init-to-place", "changes"): _INIT,
    ("nodeSelector", "zero", "changes"): _ZERO,
}

TITLES: Final = {
    "plain": "a GPU pod",
    "cpu": "a pod without GPUs",
    "sidecar": "a GPU pod with a sidecar",
    "zero": "a pod with a limit of 0 GPUs",
    "request-only": "a GPU request without a limit",
    "differs": "a GPU request that is not its limit",
    "init-request-only": "a GPU request without a limit in an init container",
    "privileged": "a privileged GPU container",
    "privileged-sidecar": "a privileged sidecar of a GPU pod",
    "privileged-init": "a privileged init container of a GPU pod",
    "privileged-ephemeral": "a privileged ephemeral container in a GPU pod",
    "privileged-beside-gpu-in-init": "a privileged container beside a GPU in an init container",
    "no-class": "a GPU pod without a runtime class",
    "other-class": "a GPU pod with another runtime class",
    "init-no-class": "a GPU in an init container, without a runtime class",
    "variable": "a container without GPUs that sets NVIDIA_VISIBLE_DEVICES",
    "variable-void": "a container that sets NVIDIA_VISIBLE_DEVICES to void",
    "variable-in-init": "an init container that sets NVIDIA_VISIBLE_DEVICES",
    "device": "a pod that mounts a GPU of the node",
    "most": "a container with as many GPUs as it may have",
    "too-many": "a container with more GPUs than it may have",
    "too-many-in-init": "an init container with more GPUs than it may have",
    "two-with-most": "two containers with as many GPUs as each may have",
    "tolerates": "a GPU pod that has the toleration",
    "tolerates-other": "a GPU pod with another toleration",
    "selected": "a GPU pod that has the nodeSelector",
    "selected-otherwise": "a GPU pod with another value in its nodeSelector",
    "init-to-place": "a GPU in an init container",
}
"""What a probe is, in words."""

ADDS: Final = "refuses GPU pods that lack it; gpugate adds it"
"""Of a validating rule that becomes an injection."""

NEVER_SEEN: Final = (
    "its message is never seen in a cluster: the API server refuses a GPU request without an equal limit by itself, "
    "before it asks validating webhooks; gpugate answers before that"
)
"""Of a validating rule about limits and requests."""
