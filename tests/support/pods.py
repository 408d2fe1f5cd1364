"""Pods as people write them, made at random from a seed: every way to a GPU, and ways that look like one.

The API server accepts all of them once `RUNTIME_CLASSES` exist (a namespace's default service account is enough).
"""

from collections.abc import Callable
from random import Random
from typing import Any, Final

RUNTIME_CLASSES: Final = ("nvidia", "nvidia-cdi", "habana", "kata-qemu-nvidia-gpu", "gvisor")

_NAMES = ("train", "serve-0", "0", "a", "llm.v2.example", "x" * 253, "data-loader-7d9f8b6c5-x2x4z", "1.2.3")
_IMAGES = (
    "registry.example.com/team/model:1",
    "x",
    "registry.example.com:5000/a/b@sha256:" + "0" * 64,
    "Proxy_v2.example/app",
)
_GPUS = (
    "nvidia.com/gpu", "nvidia.com/gpu", "nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.5gb",
    "nvidia.com/mig-3g.40gb", "amd.com/gpu", "amd.com/cpx_nps4", "gpu.intel.com/i915", "habana.ai/gaudi",
    "aws.amazon.com/neuron", "google.com/tpu", "nvidia.com/gpumem", "iluvatar.ai/vcuda", "volcano.sh/vgpu-number",
    "nvidia.com/pgpu", "example.com/gpu", "example.com/fpga", "nvidia.com/hostdev", "nvidia.com/migration",
)  # fmt: skip
_CLASSES = ("gpu.nvidia.com", "mig.nvidia.com", "gpu.example.com", "nic.example.com")
_COUNTS = (1, 1, 2, 8, 0, "1", "2", "1000m", "1e0", "0")
_ENVIRONMENT = ("NVIDIA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "AMD_VISIBLE_DEVICES", "HABANA_VISIBLE_DEVICES",
                "NVIDIA_DRIVER_CAPABILITIES", "CUDA_VISIBLE_DEVICES", "PATH", "A_1.b-c")  # fmt: skip
_VALUES = ("all", "void", "none", "", "0,1", "GPU-fef8089b", "VOID", "a\\b\"c'$(PATH)")
_ANNOTATIONS = (
    "gpu-fraction", "gpu-memory", "cdi.k8s.io/gpu", "cdi.k8s.io", "nvidia.cdi.k8s.io/container.main",
    "nvidia.cdi.k8s.io", "management.nvidia.com/gpu", "devices.gke.io/container.main", "prometheus.io/scrape",
)  # fmt: skip
_HOST_PATHS = (
    "/dev", "/", "//", "/./", "/dev/nvidia0", "//dev//nvidiactl", "/dev/./dri/", "/dev/kfd", "/dev/accel0",
    "/dev/shm", "/var/log", "/opt/dev-tools", "/proc", "/devices",
)  # fmt: skip
_MOUNTS = (
    "/var/run/nvidia-container-devices/all", "/run/nvidia-container-devices", "//var/run/nvidia-container-devices/",
    "/var/run/nvidia-container-devices-x", "/data", "/dev/shm", "/nvidia",
)  # fmt: skip
_TAINTS = ("nvidia.com/gpu", "amd.com/gpu", "google.com/tpu", "dedicated", "node.kubernetes.io/not-ready")
_NODE_LABELS = (
    ("accelerator", "nvidia-gpu"), ("accelerator", "none"), ("nvidia.com/gpu.present", "true"), ("gpu", "on"),
    ("kubernetes.io/os", "linux"), ("example.com/pool", "gpu"),
)  # fmt: skip
_LABELS: tuple[dict[str, str], ...] = (
    {}, {}, {"app": "web"}, {"app": "exporter"}, {"kueue.x-k8s.io/queue-name": "q"}, {"kai.scheduler/queue": "q"},
    {"workload": "training"},
)  # fmt: skip


def pods(seed: int, count: int) -> list[dict[str, Any]]:
    """That many pods; the same seed makes the same pods."""
    random = Random(seed)
    return [_pod(random) for _ in range(count)]


def _pod(random: Random) -> dict[str, Any]:
    """One pod. A quarter are plain, and most others have one or two of the odd things."""
    often = random.choice((0.0, 0.08, 0.2, 0.5))

    def odd() -> bool:
        return random.random() < often

    metadata: dict[str, Any] = {"name": random.choice(_NAMES)} if random.random() < 0.8 else {"generateName": "job-"}
    spec: dict[str, Any] = {
        "containers": [_container(random, odd, f"c{index}") for index in range(random.choice((1, 1, 1, 2, 3)))]
    }
    if odd():
        spec["initContainers"] = [_init(random, odd, f"i{index}") for index in range(random.choice((1, 1, 2)))]
    if odd():
        metadata["labels"] = dict(random.choice(_LABELS))
    if odd():
        metadata["annotations"] = {
            random.choice(_ANNOTATIONS): random.choice(("", "0.5", "x")) for _ in range(random.choice((0, 1, 2)))
        }
    if odd():
        owner = {"apiVersion": "apps/v1", "name": "owner", "uid": "7b8a", "controller": True}
        metadata["ownerReferences"] = [{**owner, "kind": random.choice(("DaemonSet", "ReplicaSet"))}]
    if odd():
        spec["runtimeClassName"] = random.choice(RUNTIME_CLASSES)
    if odd():
        spec["tolerations"] = [_toleration(random) for _ in range(random.choice((1, 1, 2)))]
    if odd():
        # The class nvidia may come with a selector of its own, accelerator=nvidia-gpu, that admits no other value.
        labels = [label for label in _NODE_LABELS if "runtimeClassName" not in spec or label[1] != "none"]
        spec["nodeSelector"] = dict(random.choice(labels) for _ in range(random.choice((1, 1, 2))))
    if odd():
        spec["affinity"] = _affinity(random)
    if odd():
        spec["schedulerName"] = random.choice(("volcano", "kai-scheduler"))
    _place(random, odd, spec)
    _mount(random, odd, spec)
    _claim(random, odd, spec)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _container(random: Random, odd: Callable[[], bool], name: str) -> dict[str, Any]:
    container: dict[str, Any] = {"name": name, "image": random.choice(_IMAGES)}
    limits: dict[str, Any] = {}
    requests: dict[str, Any] = {}
    if random.random() < 0.5:
        requests |= {"cpu": random.choice(("100m", 1, "0.5")), "memory": "1Gi"}
    for _ in range(2):
        if odd():
            _ask(random, limits, requests)
    if limits or requests:
        container["resources"] = {key: value for key, value in (("limits", limits), ("requests", requests)) if value}
    elif odd():
        container["resources"] = random.choice(({}, {"limits": {}}, {"limits": {"memory": "1Gi"}, "requests": {}}))
    if odd():
        container["env"] = [_variable(random) for _ in range(random.choice((1, 2, 3)))]
    if odd():
        source = random.choice(("configMapRef", "secretRef"))
        container["envFrom"] = [{source: {"name": "settings", "optional": True}}]
    if odd():
        container["securityContext"] = random.choice(
            ({}, {"privileged": True}, {"privileged": False}, {"runAsUser": 1000})
        )
    return container


def _init(random: Random, odd: Callable[[], bool], name: str) -> dict[str, Any]:
    container = _container(random, odd, name)
    return {**container, "restartPolicy": "Always"} if random.random() < 0.4 else container


def _ask(random: Random, limits: dict[str, Any], requests: dict[str, Any]) -> None:
    """Some GPU: by limit alone, or by both."""
    implicit = random.random() < 0.15
    name = f"deviceclass.resource.kubernetes.io/{random.choice(_CLASSES)}" if implicit else random.choice(_GPUS)
    if name in limits or name in requests:
        return
    count, once = random.choice(_COUNTS), random.random() < 0.5
    # Of a device class the API server asks no limit.
    if once or not implicit:
        limits[name] = count
    if not once or implicit:
        requests[name] = count


def _variable(random: Random) -> dict[str, Any]:
    name = random.choice(_ENVIRONMENT)
    kind = random.random()
    if kind < 0.15:
        return {"name": name}
    if kind < 0.3:
        sources = (
            {"fieldRef": {"fieldPath": "metadata.name"}},
            {"configMapKeyRef": {"name": "c", "key": "k", "optional": True}},
        )
        return {"name": name, "valueFrom": random.choice(sources)}
    return {"name": name, "value": random.choice(_VALUES)}


def _toleration(random: Random) -> dict[str, Any]:
    key = random.choice(_TAINTS)
    return random.choice(
        (
            {"operator": "Exists"},
            {"key": key, "operator": "Exists"},
            {"key": key, "operator": "Exists", "effect": "NoSchedule"},
            {"key": key, "value": "present", "effect": "NoSchedule"},
            {"key": key, "operator": "Equal", "value": "", "effect": "NoExecute", "tolerationSeconds": 30},
        )
    )


def _affinity(random: Random) -> dict[str, Any]:
    key, value = random.choice(_NODE_LABELS)
    expressions = (
        {"key": key, "operator": "In", "values": [value, "other"]},
        {"key": key, "operator": "NotIn", "values": [value]},
        {"key": key, "operator": "Exists"},
        {"key": key, "operator": "DoesNotExist"},
        {"key": key, "operator": "Gt", "values": ["1"]},
    )
    term: dict[str, Any] = {"matchExpressions": [random.choice(expressions)]}
    if random.random() < 0.2:
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}
    if random.random() < 0.3:
        return {
            "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": term}]}
        }
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


def _place(random: Random, odd: Callable[[], bool], spec: dict[str, Any]) -> None:
    """A node's name or a scheduling gate; the API server accepts one of them."""
    if odd():
        if random.random() < 0.5:
            spec["nodeName"] = "node-1"
        else:
            spec["schedulingGates"] = [{"name": "example.com/queue"}]


def _mount(random: Random, odd: Callable[[], bool], spec: dict[str, Any]) -> None:
    """Volumes, mounted by every container that happens to."""
    sources: tuple[dict[str, Any], ...] = (
        {"emptyDir": {}},
        {"configMap": {"name": "c", "optional": True}},
        {"persistentVolumeClaim": {"claimName": "p"}},
    )
    volumes = []
    if odd():
        volumes.append({"name": "host", "hostPath": {"path": random.choice(_HOST_PATHS)}})
    if odd():
        volumes.append({"name": "data", **random.choice(sources)})
    if not volumes:
        return
    spec["volumes"] = volumes
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        paths = random.sample(_MOUNTS, len(volumes))
        mounts = [
            {"name": volume["name"], "mountPath": path} for volume, path in zip(volumes, paths, strict=True) if odd()
        ]
        if mounts:
            container["volumeMounts"] = mounts


def _claim(random: Random, odd: Callable[[], bool], spec: dict[str, Any]) -> None:
    """A resource claim of unknown or known class, used by the first container or by none."""
    if not odd():
        return
    sources = (
        {"resourceClaimName": "shared"},
        {"resourceClaimTemplateName": "gpu"},
        {"resourceClaimTemplateName": "nic"},
    )
    spec["resourceClaims"] = [{"name": "device", **random.choice(sources)}]
    if random.random() < 0.8:
        spec["containers"][0].setdefault("resources", {})["claims"] = [{"name": "device"}]
