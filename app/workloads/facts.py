"""What objects that are about to be applied say of the cluster that they go to.

A RuntimeClass in the same input will exist, with its scheduling; so will a ResourceClaimTemplate, with the device
classes that it asks for. Objects that the API server would refuse say nothing.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from app.model.context import RuntimeClassFact
from app.workloads.kinds import group_kind

# A pod's own fields for these (runtimeClassName) are written with a small letter, and do not count.
_KINDS: Final = tuple(
    kind.encode(encoding)
    for kind in ("RuntimeClass", "ResourceClaimTemplate")
    for encoding in ("utf-8", "utf-16-le", "utf-16-be")
)


def may_say_something(content: bytes) -> bool:
    """False for a file that names none of the kinds that say something: it need not be read for them."""
    return any(kind in content for kind in _KINDS)


def runtime_class(obj: dict[str, Any]) -> RuntimeClassFact | None:
    """The fact that a RuntimeClass states; None for another object."""
    if group_kind(obj) != ("node.k8s.io", "RuntimeClass"):
        return None
    name, scheduling = _map(obj, "metadata").get("name"), _map(obj, "scheduling")
    if type(name) is not str or not name:
        return None
    selector = {key: text for key, text in _map(scheduling, "nodeSelector").items() if type(text) is str}
    return RuntimeClassFact(name, selector, tuple(_maps(scheduling, "tolerations")))


class ClaimTemplate(NamedTuple):
    """A ResourceClaimTemplate; ``namespace`` is None where the object names none."""

    namespace: str | None
    name: str
    device_classes: tuple[str, ...]


def claim_template(obj: dict[str, Any]) -> ClaimTemplate | None:
    """What a ResourceClaimTemplate asks for; None for another object."""
    if group_kind(obj) != ("resource.k8s.io", "ResourceClaimTemplate"):
        return None
    metadata = _map(obj, "metadata")
    name, namespace = metadata.get("name"), metadata.get("namespace")
    if type(name) is not str or not name or not (namespace is None or type(namespace) is str):
        return None
    devices = _map(_map(_map(obj, "spec"), "spec"), "devices")
    classes = [text for each in _maps(devices, "requests") for text in _device_classes(each) if type(text) is str]
    return ClaimTemplate(namespace or None, name, tuple(dict.fromkeys(classes)))


def _device_classes(request: dict[str, Any]) -> Iterator[Any]:
    yield request.get("deviceClassName")  # v1beta1; later versions hold it one level deeper
    yield _map(request, "exactly").get("deviceClassName")
    for choice in _maps(request, "firstAvailable"):
        yield choice.get("deviceClassName")


def _map(parent: dict[str, Any], key: str) -> dict[str, Any]:
    value = parent.get(key)
    return value if type(value) is dict else {}


def _maps(parent: dict[str, Any], key: str) -> list[dict[str, Any]]:
    value = parent.get(key)
    return [entry for entry in value if type(entry) is dict] if type(value) is list else []
