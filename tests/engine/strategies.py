"""Pods of all kinds that the API server could read, as hypothesis strategies."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

GPUS = [
    "nvidia.com/gpu",
    "nvidia.com/gpu",
    "nvidia.com/mig-1g.5gb",
    "nvidia.com/gpumem",
    "amd.com/gpu",
    "habana.ai/gaudi",
    "example.com/gpu",
]
CLASSES = ["gpu.nvidia.com", "gpu.example.com", "nic.example.com"]
KEYS = ["accelerator", "pool", "class", "mig", "dra", "zone", "disk"]
VALUES = ["nvidia-gpu", "a100", "l4", "gpu", "nvidia", "train", "true", ""]
NODE = "requiredDuringSchedulingIgnoredDuringExecution"

Object = dict[str, Any]
ABSENT = object()


def some(strategy: SearchStrategy[Any], *, often: int = 1) -> SearchStrategy[Any]:
    """The key's value, or ABSENT; null now and then, which is the same."""
    absent = st.sampled_from([ABSENT, ABSENT, ABSENT, None])
    return st.one_of(absent, absent, absent, absent, *[strategy] * often)


def record(**fields: SearchStrategy[Any]) -> SearchStrategy[Object]:
    """A map without the keys that are ABSENT."""
    return st.fixed_dictionaries(fields).map(
        lambda made: {key: value for key, value in made.items() if value is not ABSENT}
    )


quantities = st.sampled_from(["1", "2", 1, 1, 1, 2, "1k", "1000m", "0", 0, "500m", 1.5, "-1", "many", " 1 "])
resource_names = st.sampled_from(
    ["cpu", "memory", *GPUS, *GPUS, *(f"deviceclass.resource.kubernetes.io/{name}" for name in CLASSES)]
)
sections = st.dictionaries(resource_names, quantities, max_size=3)
resources = record(
    limits=some(sections, often=4),
    requests=some(sections, often=4),
    claims=some(st.lists(st.sampled_from([{"name": "device"}, {"name": "nic"}]), max_size=2)),
)
variables = st.sampled_from(
    [
        {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"},
        {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"},
        {"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": {"configMapKeyRef": {"name": "a", "key": "b"}}},
        {"name": "HOME", "value": "/"},
        {"name": "EMPTY"},
    ]
)


def containers(prefix: str, *, least: int = 0) -> SearchStrategy[list[Object]]:
    """Containers with names of their own."""
    one = record(
        image=some(st.sampled_from(["registry.example.com/a:1", "docker.io/b"]), often=3),
        resources=some(resources, often=8),
        securityContext=some(record(privileged=some(st.booleans(), often=3))),
        env=some(st.lists(variables, max_size=2)),
        envFrom=some(st.just([{"secretRef": {"name": "a"}}])),
        volumeMounts=some(st.just([{"name": "v", "mountPath": "/var/run/nvidia-container-devices/all"}])),
        restartPolicy=some(st.just("Always")) if prefix == "init" else st.just(ABSENT),
    )
    return st.lists(one, min_size=least, max_size=3).map(
        lambda listed: [{"name": f"{prefix}-{index}", **each} for index, each in enumerate(listed)]
    )


tolerations = record(
    key=some(st.sampled_from(["nvidia.com/gpu", "mig", "reserved", "spot", "other"]), often=6),
    operator=some(st.sampled_from(["Exists", "Exists", "Equal", "Lt", "Later", ""]), often=4),
    value=some(st.sampled_from(["present", "research", ""])),
    effect=some(st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule", ""]), often=3),
)
expressions = record(
    key=st.sampled_from(KEYS),
    operator=st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt"]),
    values=some(st.lists(st.sampled_from(VALUES), min_size=1, max_size=2), often=6),
)
terms = record(matchExpressions=some(st.lists(expressions, max_size=2), often=8))
required = record(nodeSelectorTerms=some(st.lists(terms, max_size=2), often=9))
affinities = record(nodeAffinity=some(record(**{NODE: some(required, often=9)}), often=9))
selectors = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=3)
labels = st.dictionaries(
    st.sampled_from(["workload", "sandbox", "kueue.x-k8s.io/queue-name", "app"]),
    st.sampled_from(["train", "training", "serve", ""]),
    max_size=2,
)
annotations = st.dictionaries(
    st.sampled_from(["gpu-fraction", "cdi.k8s.io/gpu", "a/b"]), st.sampled_from(["0.5", ""]), max_size=2
)
volumes = st.lists(
    st.sampled_from(
        [{"name": "v", "hostPath": {"path": "/dev"}}, {"name": "w", "emptyDir": {}}, {"name": "x", "hostPath": None}]
    ),
    max_size=2,
)
claims = st.just(
    [{"name": "device", "resourceClaimTemplateName": "one"}, {"name": "nic", "resourceClaimTemplateName": "other"}]
)

pods: SearchStrategy[Object] = record(
    apiVersion=st.just("v1"),
    kind=st.just("Pod"),
    metadata=some(
        record(
            name=st.just("a"),
            labels=some(labels, often=4),
            annotations=some(annotations, often=2),
            ownerReferences=some(st.just([{"kind": "DaemonSet", "name": "d", "controller": True}])),
        ),
        often=9,
    ),
    spec=record(
        containers=containers("app", least=1),
        initContainers=some(containers("init"), often=2),
        ephemeralContainers=some(containers("debug")),
        runtimeClassName=some(st.sampled_from(["", "nvidia", "kata", "runc"]), often=2),
        nodeName=some(st.just("node-1")),
        schedulerName=some(st.sampled_from(["default-scheduler", "volcano"])),
        schedulingGates=some(st.sampled_from([[], [{"name": "gate"}]])),
        tolerations=some(st.lists(tolerations, max_size=3), often=5),
        nodeSelector=some(selectors, often=4),
        affinity=some(affinities, often=2),
        volumes=some(volumes),
        resourceClaims=some(claims, often=2),
        future=some(st.just({"field": [None, 1]})),
    ),
)
