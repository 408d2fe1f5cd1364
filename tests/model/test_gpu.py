"""How pods use GPUs."""

from typing import Any

import pytest

from app.model.context import ClusterFacts, Context
from app.model.gpu import GpuSet, GpuUse, Names, Vendor, gpu_use, resource_pointer
from app.model.pod import Pod
from app.policy.presets import NAMES, preset

CLASS = "deviceclass.resource.kubernetes.io/"
UNKNOWN = Context("team")
NVIDIA = GpuSet([preset("nvidia")])
ANNOTATED = GpuSet([preset("nvidia"), preset("kai"), Vendor("policy", annotations=("example.com/gpu",))])


def asking(limits: Any = None, requests: Any = None, **more: Any) -> dict[str, Any]:
    """A container."""
    resources = {key: value for key, value in (("limits", limits), ("requests", requests)) if value is not None}
    return {"name": "main", "resources": resources, **more}


def use_of(
    *containers: dict[str, Any],
    gpus: GpuSet = NVIDIA,
    context: Context = UNKNOWN,
    annotations: dict[str, str] | None = None,
    **spec: Any,
) -> GpuUse:
    pod = Pod({"annotations": annotations}, {"containers": list(containers), **spec})
    return gpu_use(pod, gpus, context)


@pytest.mark.parametrize(
    ("limit", "asked", "gpu"),
    [
        ("1", None, True),
        (None, "1", True),
        (1, 1, True),
        ("500m", None, True),
        ("-1", None, True),  # nobody asks for that, but somebody has to be told
        ("many", None, True),
        ([], None, True),
        ("0", None, False),
        (0, 0, False),
        ("0", "1", True),
        ("1", "0", True),
        (" 0 ", "0.000", False),
        (None, None, False),
        (False, None, True),  # no quantity
    ],
)
def test_quantities(limit: Any, asked: Any, gpu: bool) -> None:
    limits = {"nvidia.com/gpu": limit} if limit is not None else None
    requests = {"nvidia.com/gpu": asked, "cpu": "1"} if asked is not None else None
    use = use_of(asking(limits, requests))
    assert use.gpu is gpu
    assert [found.resources.keys() for found in use.containers] == ([{"nvidia.com/gpu"}] if gpu else [])
    assert use.resources == ({"nvidia.com/gpu"} if gpu else set())
    assert bool(use.runtime_classes) is gpu


def test_null_is_zero() -> None:
    assert not use_of(asking({"nvidia.com/gpu": None})).gpu


def test_other_resources_are_no_gpus() -> None:
    use = use_of(
        asking(dict.fromkeys(("cpu", "nvidia.com/gpu-foo", "xnvidia.com/gpu", "requests.nvidia.com/gpu"), "1"))
    )
    assert not use.gpu
    assert use.containers == []


def test_a_zero_beside_a_gpu_is_judged_with_it_but_not_asked_for() -> None:
    limits = {"nvidia.com/gpu": 0, "nvidia.com/mig-1g.5gb": 1, f"{CLASS}gpu.nvidia.com": 0}
    use = use_of(asking(limits))
    assert use.containers[0].resources.keys() == limits.keys()
    assert use.resources == {"nvidia.com/mig-1g.5gb"}
    assert use.device_classes == set()


def test_all_containers_but_ephemeral_ones_can_ask() -> None:
    gpu = asking({"nvidia.com/gpu": 1})
    use = use_of(
        {"name": "web"},
        gpu,
        initContainers=[gpu, {**gpu, "restartPolicy": "Always"}, asking({"cpu": 1})],
        ephemeralContainers=[gpu],
    )
    pointers = ["/spec/initContainers/0", "/spec/initContainers/1", "/spec/containers/1"]
    assert [found.container.pointer for found in use.containers] == pointers
    assert use.by_pointer == set(pointers)
    containers = Pod(None, {"containers": [{"name": "web"}, gpu]}).containers
    assert [use.asks(container) for container in containers] == [False, True]


def test_an_ephemeral_container_alone_makes_no_gpu_pod() -> None:
    assert not use_of({"name": "web"}, ephemeralContainers=[asking({"nvidia.com/gpu": 1})]).gpu


@pytest.mark.parametrize(
    ("name", "gpu", "whole", "needs_class"),
    [
        ("nvidia.com/gpu", True, True, True),
        ("nvidia.com/mig-1g.5gb", True, True, True),
        ("nvidia.com/mig-3g.20gb.shared", True, True, True),
        ("nvidia.com/gpu.shared", True, False, True),
        ("nvidia.com/mig", False, None, None),
        ("amd.com/gpu", False, None, None),
    ],
)
def test_names_of_resources(name: str, gpu: bool, whole: bool | None, needs_class: bool | None) -> None:
    resource = NVIDIA.resource(name)
    assert (resource is not None) is gpu
    if resource is not None:
        assert (resource.whole, bool(resource.runtime_classes), resource.overcommit) == (whole, needs_class, False)
    assert use_of(asking({name: 1})).gpu is gpu


def test_gpus_of_a_vendor_without_a_runtime_class_need_none() -> None:
    gpus = GpuSet([preset("nvidia"), preset("amd")])
    assert use_of(asking({"amd.com/gpu": 1}), gpus=gpus).runtime_classes == frozenset()
    both = use_of(asking({"amd.com/gpu": 1}), asking({"nvidia.com/gpu": 1}), gpus=gpus)
    assert "nvidia" in both.runtime_classes


def test_device_classes_by_resource_name() -> None:
    use = use_of(asking({f"{CLASS}gpu.nvidia.com": 1}))
    assert use.gpu
    assert use.device_classes == {"gpu.nvidia.com"}
    assert use.runtime_classes == frozenset()
    resource = NVIDIA.resource(f"{CLASS}gpu.nvidia.com")
    assert resource is not None
    assert (resource.whole, resource.overcommit) == (True, True)
    assert not use_of(asking({f"{CLASS}nic.example.com": 1})).gpu


CLAIM = {"resources": {"claims": [{"name": "device"}]}, "name": "main"}
TEMPLATE = [{"name": "device", "resourceClaimTemplateName": "one"}]


def knowing(*classes: str, namespace: str = "team") -> Context:
    return Context("team", facts=ClusterFacts(claims={(namespace, "one"): classes}))


def test_a_claim_of_a_known_gpu_class() -> None:
    use = use_of(CLAIM, {"name": "web"}, context=knowing("nic.example.com", "gpu.nvidia.com"), resourceClaims=TEMPLATE)
    assert use.gpu
    assert use.unknown_claim is None
    assert use.device_classes == {"gpu.nvidia.com"}
    assert [(found.container.pointer, found.resources) for found in use.containers] == [("/spec/containers/0", {})]
    assert use.runtime_classes == frozenset()
    assert use.resources == set()


def test_a_claim_known_to_be_of_no_gpu() -> None:
    for context in (knowing("nic.example.com"), knowing()):
        use = use_of(CLAIM, context=context, resourceClaims=TEMPLATE)
        assert (use.gpu, use.unknown_claim) == (False, None)


@pytest.mark.parametrize(
    ("context", "claims"),
    [
        (Context("team"), TEMPLATE),  # no facts
        (knowing("gpu.nvidia.com", namespace="other"), TEMPLATE),
        (Context(None, facts=ClusterFacts(claims={("team", "one"): ("gpu.nvidia.com",)})), TEMPLATE),
        (knowing("gpu.nvidia.com"), [{"name": "device", "resourceClaimName": "one"}]),  # facts are of templates
        (knowing("gpu.nvidia.com"), [{"name": "other", "resourceClaimTemplateName": "one"}]),
        (knowing("gpu.nvidia.com"), None),
    ],
)
def test_a_claim_that_nobody_knows(context: Context, claims: Any) -> None:
    use = use_of(CLAIM, context=context, resourceClaims=claims)
    assert (use.gpu, use.unknown_claim) == (False, "device")


def test_a_claim_that_no_container_uses_is_nothing() -> None:
    use = use_of({"name": "web"}, context=knowing("gpu.nvidia.com"), resourceClaims=TEMPLATE)
    assert (use.gpu, use.unknown_claim) == (False, None)


def test_known_and_unknown_claims_together() -> None:
    claims = [*TEMPLATE, {"name": "what", "resourceClaimName": "x"}]
    container = {"name": "main", "resources": {"claims": [{"name": "what"}, {"name": "device"}]}}
    use = use_of(container, context=knowing("gpu.nvidia.com"), resourceClaims=claims)
    assert (use.gpu, use.unknown_claim, use.device_classes) == (True, "what", {"gpu.nvidia.com"})


def test_annotations() -> None:
    use = use_of({"name": "web"}, gpus=ANNOTATED, annotations={"a": "b", "gpu-fraction": "0.5"})
    assert use.gpu
    assert use.annotation == "gpu-fraction"
    assert use.containers == []
    assert use.runtime_classes == {"nvidia"}
    # Whose annotation a policy names without a runtime class needs none.
    use = use_of({"name": "web"}, gpus=ANNOTATED, annotations={"example.com/gpu": "1"})
    assert (use.gpu, use.runtime_classes) == (True, frozenset())
    assert not use_of({"name": "web"}, gpus=ANNOTATED, annotations={"example.com/gpus": "1"}).gpu
    assert not use_of({"name": "web"}, annotations={"gpu-fraction": "0.5"}).gpu


def test_names() -> None:
    names = Names(["nvidia.com/gpu", "nvidia.com/mig-*", "nvidia.com/gpu"])
    assert "nvidia.com/gpu" in names
    assert "nvidia.com/mig-1g.5gb" in names
    assert "nvidia.com/mig-" in names
    assert "nvidia.com/mig" not in names
    assert "nvidia.com/gpus" not in names
    assert names
    assert not Names([])
    assert "anything" in Names(["*"])


def test_names_that_pods_make_up_do_not_add_up_to_memory() -> None:
    gpus = GpuSet([preset("nvidia")])
    for number in range(10_000):
        assert gpus.resource(f"example.com/{number}") is None
    assert len(gpus._known) <= 4_097
    assert gpus.resource("nvidia.com/gpu") is not None


def test_resource_pointer() -> None:
    container = Pod(None, {"containers": [asking({"nvidia.com/gpu": 1})]}).containers[0]
    pointer = resource_pointer(container, "limits", "nvidia.com/gpu")
    assert pointer == "/spec/containers/0/resources/limits/nvidia.com~1gpu"


def test_several_vendors_add_up() -> None:
    one = Vendor("one", resources=("a/gpu",), environment={"V": ("void",)}, hide={"V": "void"}, node_labels=("n",))
    two = Vendor("two", resources=("b/gpu",), environment={"V": ("none",)}, node_labels=("n", "m"))
    gpus = GpuSet([one, two])
    assert gpus.environment == {"V": {"void", "none"}}
    assert gpus.hide == {"V": "void"}
    assert gpus.node_labels == ("n", "m")
    assert use_of(asking({"a/gpu": 1, "b/gpu": 1}), gpus=gpus).resources == {"a/gpu", "b/gpu"}


# What a pod of each preset's vendor asks for; kai's by annotation, all others by resource.
ASKED = {
    "nvidia": "nvidia.com/gpu",
    "amd": "amd.com/gpu",
    "intel": "gpu.intel.com/i915",
    "gaudi": "habana.ai/gaudi",
    "neuron": "aws.amazon.com/neuron",
    "tpu": "google.com/tpu",
    "hami": "nvidia.com/gpumem",
    "volcano": "volcano.sh/vgpu-number",
    "kata": "nvidia.com/pgpu",
}


@pytest.mark.parametrize("name", NAMES)
def test_presets(name: str) -> None:
    vendor = preset(name)
    gpus = GpuSet([vendor])
    assert vendor.name == name
    assert set(vendor.whole) <= set(vendor.resources)
    if name in ASKED:
        use = use_of(asking({ASKED[name]: 1}), gpus=gpus)
        assert use.gpu
        assert use.runtime_classes == set(vendor.runtime_classes)
    else:
        assert use_of({"name": "a"}, gpus=gpus, annotations=dict.fromkeys(vendor.annotations, "1")).gpu
    assert not use_of(asking({"cpu": 1, "memory": "1Gi", "ephemeral-storage": "1Gi"}), gpus=gpus).gpu
    # What hides GPUs must be harmless to the rule that looks at the same variable.
    for variable, value in vendor.hide.items():
        assert value in vendor.environment[variable]
