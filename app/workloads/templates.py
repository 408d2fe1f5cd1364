"""The pods in an object: a Pod itself, or the templates that its pods will be made of."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from app.model.patch import escape, unescape
from app.model.pod import MalformedPod, Pod
from app.workloads.defaulting import defaulted
from app.workloads.kinds import Kind, Kinds, group_kind


class Template(NamedTuple):
    """A pod spec in an object, and the metadata beside it; both raw. Pointers are relative to the object."""

    kind: Kind
    spec_pointer: str
    spec: Any
    metadata_pointer: str
    metadata: Any

    def pod(self) -> Pod:
        """The pod as the API server would have it, with its defaults; raises MalformedPod."""
        return Pod(
            self.metadata,
            defaulted(self.spec) if type(self.spec) is dict else self.spec,
            metadata_pointer=self.metadata_pointer,
            spec_pointer=self.spec_pointer,
            daemonset=True if self.kind.daemonset else None,  # else its owner tells
        )


def templates(obj: dict[str, Any], kinds: Kinds) -> Iterator[Template]:
    """The pod specs that are there, in the order of the kind's paths.

    None for an object of another kind, and where a spec is missing: no pod can come of such an object. Raises
    MalformedPod where something that cannot hold one stands in the way.
    """
    name = group_kind(obj)
    kind = kinds.get(name) if name else None
    if kind is not None:
        for path in kind.paths:
            yield from _walk(kind, obj, path[1:].split("/"), "")


def _walk(kind: Kind, value: Any, steps: list[str], pointer: str) -> Iterator[Template]:
    step, rest = steps[0], steps[1:]
    for key, child in _children(value, step, pointer):
        at = f"{pointer}/{escape(str(key))}"
        if child is None:
            continue
        if rest:
            yield from _walk(kind, child, rest, at)
        else:
            metadata = value.get("metadata") if step == "spec" else None
            yield Template(kind, at, child, f"{pointer}/metadata", metadata)


def _children(value: Any, step: str, pointer: str) -> Iterator[tuple[str | int, Any]]:
    if type(value) is dict:
        yield from value.items() if step == "*" else [(unescape(step), value.get(unescape(step)))]
    elif type(value) is list and step == "*":
        yield from enumerate(value)
    else:
        raise MalformedPod(pointer, value, "a map or a list" if step == "*" else "a map")
