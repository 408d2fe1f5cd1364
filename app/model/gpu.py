"""What counts as a GPU, and how a pod uses it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from app.model.context import Context
from app.model.patch import escape
from app.model.pod import Container, Pod
from app.model.quantity import InvalidQuantity, parse

DEVICE_CLASS_PREFIX: Final = "deviceclass.resource.kubernetes.io/"
"""A resource with this prefix asks for a device of the DeviceClass named after it (DRA, Kubernetes 1.35)."""


@dataclass(frozen=True, slots=True)
class Vendor:
    """What one preset knows of a vendor's or scheduler's GPUs; a trailing ``*`` in a name is a prefix match.

    ``whole`` lists the resources that are counted as devices. ``environment`` maps variables that hand GPUs to
    a container to the values that hand out none. ``hide`` maps variables to the value that hides all GPUs.
    """

    name: str
    resources: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    device_classes: tuple[str, ...] = ()
    runtime_classes: tuple[str, ...] = ()
    annotations: tuple[str, ...] = ()
    environment: dict[str, tuple[str, ...]] = field(default_factory=dict)
    hide: dict[str, str] = field(default_factory=dict)
    bypass_annotations: tuple[str, ...] = ()
    device_paths: tuple[str, ...] = ()
    mount_paths: tuple[str, ...] = ()
    node_labels: tuple[str, ...] = ()
    taint_keys: tuple[str, ...] = ()


class Names:
    """A set of names, exact or by prefix (``nvidia.com/mig-*``)."""

    __slots__ = ("exact", "prefixes")

    def __init__(self, patterns: Iterable[str]) -> None:
        listed = tuple(dict.fromkeys(patterns))
        self.exact = frozenset(pattern for pattern in listed if not pattern.endswith("*"))
        self.prefixes = tuple(pattern[:-1] for pattern in listed if pattern.endswith("*"))

    def __contains__(self, name: str) -> bool:
        return name in self.exact or (bool(self.prefixes) and name.startswith(self.prefixes))

    def __bool__(self) -> bool:
        return bool(self.exact or self.prefixes)


class Resource(NamedTuple):
    """A resource that is a GPU. ``whole``: one is a device; ``runtime_classes``: those that hand it to containers
    (empty: it needs none); ``overcommit``: the API server does not ask that request and limit are equal."""

    whole: bool
    runtime_classes: frozenset[str]
    overcommit: bool


class GpuSet:
    """What one policy counts as a GPU: the sum of its presets and its own names."""

    __slots__ = (
        "_known",
        "annotations",
        "bypass_annotations",
        "device_classes",
        "device_paths",
        "environment",
        "hide",
        "mount_names",
        "mount_paths",
        "node_labels",
        "resources",
        "runtime_classes",
        "taint_keys",
        "vendors",
        "whole",
    )

    def __init__(self, vendors: Iterable[Vendor]) -> None:
        self.vendors = tuple(vendors)
        self.resources = Names(name for vendor in self.vendors for name in vendor.resources)
        self.whole = Names(name for vendor in self.vendors for name in vendor.whole)
        self.device_classes = Names(name for vendor in self.vendors for name in vendor.device_classes)
        self.runtime_classes = Names(name for vendor in self.vendors for name in vendor.runtime_classes)
        self.annotations = Names(name for vendor in self.vendors for name in vendor.annotations)
        self.bypass_annotations = Names(name for vendor in self.vendors for name in vendor.bypass_annotations)
        self.environment: dict[str, frozenset[str]] = {}
        for vendor in self.vendors:
            for variable, harmless in vendor.environment.items():
                self.environment[variable] = self.environment.get(variable, frozenset()) | set(harmless)
        self.hide = {name: value for vendor in self.vendors for name, value in vendor.hide.items()}
        self.device_paths = Names(path for vendor in self.vendors for path in vendor.device_paths)
        self.mount_paths = tuple(dict.fromkeys(path for vendor in self.vendors for path in vendor.mount_paths))
        self.mount_names = tuple(dict.fromkeys(path.rstrip("/").rpartition("/")[2] for path in self.mount_paths))
        self.node_labels = tuple(dict.fromkeys(name for vendor in self.vendors for name in vendor.node_labels))
        self.taint_keys = tuple(dict.fromkeys(name for vendor in self.vendors for name in vendor.taint_keys))
        self._known: dict[str, Resource | None] = {}

    def resource(self, name: str) -> Resource | None:
        """What kind of GPU the resource is; None if it is none."""
        try:
            return self._known[name]
        except KeyError:
            if len(self._known) > 4096:  # names come from pods; forget rather than grow
                self._known.clear()
            self._known[name] = found = self._classify(name)
            return found

    def _classify(self, name: str) -> Resource | None:
        if name.startswith(DEVICE_CLASS_PREFIX):
            known = name[len(DEVICE_CLASS_PREFIX) :] in self.device_classes
            return Resource(whole=True, runtime_classes=frozenset(), overcommit=True) if known else None
        owners = [vendor for vendor in self.vendors if name in Names(vendor.resources)]
        if not owners:
            return None
        return Resource(
            whole=name in self.whole,
            runtime_classes=frozenset(name for vendor in owners for name in vendor.runtime_classes),
            overcommit=False,
        )


class GpuContainer(NamedTuple):
    """A container that asks for GPUs. ``resources`` maps each GPU resource in its limits or requests to its kind."""

    container: Container
    resources: dict[str, Resource]


class GpuUse:
    """How one pod uses GPUs.

    ``containers`` ask for GPUs by resource or by claim; ``annotation`` is the annotation that asks a scheduler for
    one; ``unknown_claim`` names a claim whose device class nobody told us. ``resources`` and ``device_classes``
    are all that the pod asks for, ``runtime_classes`` those that can hand it its GPUs (empty: it needs none).
    """

    __slots__ = (
        "annotation",
        "by_pointer",
        "containers",
        "device_classes",
        "resources",
        "runtime_classes",
        "unknown_claim",
    )

    def __init__(self) -> None:
        self.containers: list[GpuContainer] = []
        self.by_pointer: set[str] = set()
        self.annotation: str | None = None
        self.unknown_claim: str | None = None
        self.resources: set[str] = set()
        self.device_classes: set[str] = set()
        self.runtime_classes: frozenset[str] = frozenset()

    @property
    def gpu(self) -> bool:
        """True for a GPU pod: a container asks for GPUs, or an annotation does."""
        return bool(self.containers) or self.annotation is not None

    def asks(self, container: Container) -> bool:
        """True if this container asks for GPUs."""
        return container.pointer in self.by_pointer


def gpu_use(pod: Pod, gpus: GpuSet, context: Context) -> GpuUse:
    """How the pod uses what the policy counts as GPUs."""
    use = GpuUse()
    known = gpus.resource
    claims: dict[str, tuple[str, ...] | None] | None = None
    for container in pod.containers:
        if container.kind == "ephemeralContainer":
            break  # they come last, and the API server lets none of them ask for resources
        limits, requests = container.limits, container.requests
        named = limits if not requests or requests.keys() <= limits.keys() else {**limits, **requests}
        listed = {name: resource for name in named if (resource := known(name)) is not None}
        asked = [name for name in listed if _above_zero(limits.get(name)) or _above_zero(requests.get(name))]
        claimed = False
        if container.claims:
            if claims is None:
                claims = _classes_of_claims(pod, context)
            claimed = _claim(container, claims, gpus, use)
        if asked or claimed:
            use.containers.append(GpuContainer(container, listed if asked else {}))
            use.by_pointer.add(container.pointer)
            for name in asked:
                resource = listed[name]
                use.resources.add(name)
                if resource.runtime_classes:
                    use.runtime_classes |= resource.runtime_classes
                if resource.overcommit:
                    use.device_classes.add(name[len(DEVICE_CLASS_PREFIX) :])
    if pod.annotations and gpus.annotations:
        use.annotation = next((key for key in pod.annotations if key in gpus.annotations), None)
        if use.annotation is not None:
            for vendor in gpus.vendors:
                if use.annotation in Names(vendor.annotations):
                    use.runtime_classes |= set(vendor.runtime_classes)
    return use


def _above_zero(value: Any) -> bool:
    """True unless the quantity is zero or absent: what cannot be read, or is negative, is still a demand."""
    if value is None:
        return False
    try:
        return parse(value) != 0
    except InvalidQuantity:
        return True


def _classes_of_claims(pod: Pod, context: Context) -> dict[str, tuple[str, ...] | None]:
    """The device classes behind each entry of ``spec.resourceClaims``; None where nobody knows."""
    classes: dict[str, tuple[str, ...] | None] = {}
    for claim in pod.resource_claims():
        template = claim.get("resourceClaimTemplateName")
        key = (context.namespace or "", template) if isinstance(template, str) else None
        classes[str(claim.get("name"))] = context.facts.claims.get(key) if key else None
    return classes


def _claim(container: Container, claims: dict[str, tuple[str, ...] | None], gpus: GpuSet, use: GpuUse) -> bool:
    """Record what the container's claims ask for; True if one of them asks for a GPU."""
    asks = False
    for entry in container.claims:
        name = str(entry.get("name"))
        classes = claims.get(name)
        if classes is None:
            use.unknown_claim = use.unknown_claim or name
            continue
        known = [device_class for device_class in classes if device_class in gpus.device_classes]
        use.device_classes.update(known)
        asks = asks or bool(known)
    return asks


def resource_pointer(container: Container, section: str, name: str) -> str:
    """The JSON Pointer of a quantity: ``/spec/containers/0/resources/limits/nvidia.com~1gpu``."""
    return f"{container.pointer}/resources/{section}/{escape(name)}"
