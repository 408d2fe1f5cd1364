"""A pod, as a view over the raw object. Fields that gpugate does not know stay where they are.

Only the fields that rules read are looked at, each with a check of its type: the API server refuses a pod with
a text where a map belongs, so a file with one must be refused too, and must not crash a rule.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Literal

from app.model.patch import escape, unescape
from app.model.words import quoted

if TYPE_CHECKING:
    from app.model.places import Places

ContainerKind = Literal["container", "initContainer", "ephemeralContainer"]

_LABEL: Final[dict[str, str]] = {
    "container": "container",
    "initContainer": "init container",
    "ephemeralContainer": "ephemeral container",
}
_CONTAINER_LISTS: Final[tuple[tuple[str, ContainerKind], ...]] = (
    ("initContainers", "initContainer"),
    ("containers", "container"),
    ("ephemeralContainers", "ephemeralContainer"),
)
_NOTHING: Final[dict[str, Any]] = {}
_FOUND: Final = {dict: "a map", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}

MIRROR_ANNOTATION: Final = "kubernetes.io/config.mirror"


class MalformedPod(ValueError):
    """A field of the pod has a type that the API server refuses.

    ``pointer`` is the JSON Pointer of the field, ``value`` what is there, ``wanted`` and ``found`` say the types in
    words.
    """

    def __init__(self, pointer: str, value: object, wanted: str) -> None:
        self.pointer = pointer
        self.value = value
        self.wanted = wanted
        self.found = _FOUND.get(type(value), "null" if value is None else type(value).__name__)
        super().__init__(f"{unescape(pointer[1:].replace('/', '.')) or 'the pod'} must be {wanted}, found {self.found}")


def _map(parent: dict[str, Any], key: str, pointer: str) -> dict[str, Any]:
    value = parent.get(key)
    if value is None:
        return _NOTHING
    if type(value) is not dict:
        raise MalformedPod(f"{pointer}/{key}", value, "a map")
    return value


def _maps(parent: dict[str, Any], key: str, pointer: str, *texts: str) -> list[dict[str, Any]]:
    """A list of maps, in which the keys ``texts`` hold text."""
    value = parent.get(key)
    if value is None:
        return []
    if type(value) is not list:
        raise MalformedPod(f"{pointer}/{key}", value, "a list")
    for index, entry in enumerate(value):
        if type(entry) is not dict:
            raise MalformedPod(f"{pointer}/{key}/{index}", entry, "a map")
        for name in texts:
            text = entry.get(name)
            if text is not None and type(text) is not str:
                raise MalformedPod(f"{pointer}/{key}/{index}/{name}", text, "text")
    return value


def _text(parent: dict[str, Any], key: str, pointer: str) -> str:
    value = parent.get(key)
    if value is None:
        return ""
    if type(value) is not str:
        raise MalformedPod(f"{pointer}/{key}", value, "text")
    return value


def _texts(parent: dict[str, Any], key: str, pointer: str) -> dict[str, str]:
    value = _map(parent, key, pointer)
    nulls = False
    for name, entry in value.items():
        if type(entry) is not str:
            if entry is not None:
                raise MalformedPod(f"{pointer}/{key}/{escape(name)}", entry, "text")
            nulls = True
    # The API server reads a null in a map of texts as "".
    return {name: entry or "" for name, entry in value.items()} if nulls else value


def _list_of_texts(parent: dict[str, Any], key: str, pointer: str) -> None:
    """Raises MalformedPod if the value is there and is none."""
    value = parent.get(key)
    if value is None:
        return
    if type(value) is not list:
        raise MalformedPod(f"{pointer}/{key}", value, "a list")
    for index, entry in enumerate(value):
        if type(entry) is not str:
            raise MalformedPod(f"{pointer}/{key}/{index}", entry, "text")


class Container:
    """One container of a pod, of any kind.

    ``pointer`` is the JSON Pointer of the container in the object; ``limits`` and ``requests`` map resource names
    to raw quantities; ``sidecar`` is true for an init container that keeps running (restartPolicy Always).
    """

    __slots__ = ("claims", "kind", "limits", "name", "pointer", "privileged", "raw", "requests", "sidecar")

    def __init__(self, kind: ContainerKind, raw: dict[str, Any], pointer: str) -> None:
        self.kind = kind
        self.raw = raw
        self.pointer = pointer
        self.name = _text(raw, "name", pointer)
        resources = _map(raw, "resources", pointer)
        if resources:
            inner = f"{pointer}/resources"
            self.limits = _map(resources, "limits", inner)
            self.requests = _map(resources, "requests", inner)
            self.claims = _maps(resources, "claims", inner, "name") if "claims" in resources else []
        else:
            self.limits = self.requests = _NOTHING
            self.claims = []
        security = raw.get("securityContext")
        if security is None:
            self.privileged = False
        else:
            self.privileged = _privileged(security, pointer)
        self.sidecar = kind == "initContainer" and raw.get("restartPolicy") == "Always"

    @property
    def label(self) -> str:
        """How messages name it: ``init container "fetch"``."""
        return f"{_LABEL[self.kind]} {quoted(self.name)}"

    def env(self) -> list[dict[str, Any]]:
        """The entries of ``env``."""
        return _maps(self.raw, "env", self.pointer, "name", "value")

    def env_from(self) -> list[dict[str, Any]]:
        """The entries of ``envFrom``."""
        return _maps(self.raw, "envFrom", self.pointer)

    def volume_mounts(self) -> list[dict[str, Any]]:
        """The entries of ``volumeMounts``."""
        return _maps(self.raw, "volumeMounts", self.pointer, "mountPath")

    @property
    def image(self) -> str:
        """The image as written, "" without one."""
        return _text(self.raw, "image", self.pointer)


def _privileged(security: Any, pointer: str) -> bool:
    if type(security) is not dict:
        raise MalformedPod(f"{pointer}/securityContext", security, "a map")
    privileged = security.get("privileged")
    if privileged is None or type(privileged) is bool:
        return bool(privileged)
    raise MalformedPod(f"{pointer}/securityContext/privileged", privileged, "true or false")


def scheduled(status: Any) -> bool:
    """True if the status of a pod says that the scheduler has bound it; raises nothing."""
    conditions = status.get("conditions") if type(status) is dict else None
    return type(conditions) is list and any(
        type(each) is dict and each.get("type") == "PodScheduled" and each.get("status") == "True"
        for each in conditions
    )


class Pod:
    """A pod or pod template.

    ``metadata_pointer`` and ``spec_pointer`` are JSON Pointers into the object that holds it: ``/metadata`` and
    ``/spec`` in a Pod, ``/spec/template/metadata`` and ``/spec/template/spec`` in a Deployment. ``daemonset``
    tells that a DaemonSet makes this pod; ``scheduled`` that it was the scheduler who chose its node; ``places`` where
    its parts really stand, if the object holds no plain pod spec. Raises MalformedPod.
    """

    __slots__ = ("annotations", "containers", "daemonset", "labels", "metadata", "metadata_pointer", "node_name",
                 "places", "runtime_class", "scheduled", "scheduler", "spec", "spec_pointer")  # fmt: skip

    def __init__(
        self,
        metadata: Any,
        spec: Any,
        *,
        metadata_pointer: str = "/metadata",
        spec_pointer: str = "/spec",
        daemonset: bool | None = None,
        scheduled: bool = False,
        places: "Places | None" = None,
    ) -> None:
        if type(spec) is not dict:
            raise MalformedPod(spec_pointer, spec, "a map")
        if type(metadata) is not dict:
            if metadata is not None:
                raise MalformedPod(metadata_pointer, metadata, "a map")
            metadata = _NOTHING
        self.metadata: dict[str, Any] = metadata
        self.spec: dict[str, Any] = spec
        self.metadata_pointer = metadata_pointer
        self.spec_pointer = spec_pointer
        self.scheduled = scheduled
        self.places = places
        self.labels = _texts(metadata, "labels", metadata_pointer)
        self.annotations = _texts(metadata, "annotations", metadata_pointer)
        self.runtime_class = _text(spec, "runtimeClassName", spec_pointer)
        self.node_name = _text(spec, "nodeName", spec_pointer)
        self.scheduler = _text(spec, "schedulerName", spec_pointer)
        self.containers: list[Container] = []
        for key, kind in _CONTAINER_LISTS:
            if key in spec:
                pointer = f"{spec_pointer}/{key}/"
                for index, raw in enumerate(_maps(spec, key, spec_pointer)):
                    self.containers.append(Container(kind, raw, pointer + str(index)))
        self.daemonset = self._owned_by_daemonset() if daemonset is None else daemonset

    @classmethod
    def of(cls, obj: dict[str, Any]) -> "Pod":
        """The view of a Pod object."""
        return cls(obj.get("metadata"), obj.get("spec"), scheduled="status" in obj and scheduled(obj["status"]))

    def _owned_by_daemonset(self) -> bool:
        if "ownerReferences" not in self.metadata:
            return False
        for owner in _maps(self.metadata, "ownerReferences", self.metadata_pointer):
            if owner.get("kind") == "DaemonSet" and owner.get("controller") is True:
                return True
        return False

    @property
    def mirror(self) -> bool:
        """True for the API server's copy of a static pod; kubelet runs it whatever anybody says."""
        return MIRROR_ANNOTATION in self.annotations

    @property
    def service_account(self) -> str:
        """``spec.serviceAccountName``, or its deprecated alias; "default" without either, as the API server has it."""
        spec, pointer = self.spec, self.spec_pointer
        return _text(spec, "serviceAccountName", pointer) or _text(spec, "serviceAccount", pointer) or "default"

    def tolerations(self) -> list[dict[str, Any]]:
        """The entries of ``spec.tolerations``."""
        return _maps(self.spec, "tolerations", self.spec_pointer, "key", "operator", "value", "effect")

    def node_selector(self) -> dict[str, str]:
        """``spec.nodeSelector``."""
        return _texts(self.spec, "nodeSelector", self.spec_pointer)

    def host_paths(self) -> list[tuple[str, str, str]]:
        """The (name, path, pointer) of the entries of ``spec.volumes`` that are paths of the node."""
        found = []
        for index, volume in enumerate(_maps(self.spec, "volumes", self.spec_pointer, "name")):
            if "hostPath" in volume:
                pointer = f"{self.spec_pointer}/volumes/{index}"
                path = _text(_map(volume, "hostPath", pointer), "path", f"{pointer}/hostPath")
                found.append((volume.get("name") or "", path, f"{pointer}/hostPath"))
        return found

    def resource_claims(self) -> list[dict[str, Any]]:
        """The entries of ``spec.resourceClaims``."""
        return _maps(self.spec, "resourceClaims", self.spec_pointer, "name", "resourceClaimTemplateName")

    def scheduling_gates(self) -> list[dict[str, Any]]:
        """The entries of ``spec.schedulingGates``."""
        return _maps(self.spec, "schedulingGates", self.spec_pointer)

    def required_node_terms(self) -> Iterator[dict[str, Any]]:
        """The terms of required node affinity; a node must satisfy one of them."""
        pointer = f"{self.spec_pointer}/affinity"
        node = _map(_map(self.spec, "affinity", self.spec_pointer), "nodeAffinity", pointer)
        key = "requiredDuringSchedulingIgnoredDuringExecution"
        required = _map(node, key, f"{pointer}/nodeAffinity")
        pointer = f"{pointer}/nodeAffinity/{key}"
        for index, term in enumerate(_maps(required, "nodeSelectorTerms", pointer)):
            inner = f"{pointer}/nodeSelectorTerms/{index}"
            for position, expression in enumerate(_maps(term, "matchExpressions", inner, "key", "operator")):
                _list_of_texts(expression, "values", f"{inner}/matchExpressions/{position}")
            yield term
