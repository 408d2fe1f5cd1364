"""The pods in an object: a Pod itself, or the templates that its pods will be made of."""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from app.model.patch import escape, unescape
from app.model.places import Place, Places
from app.model.pod import MalformedPod, Pod, scheduled
from app.workloads.defaulting import defaulted
from app.workloads.kinds import Kind, Kinds, Site, every_part, group_kind, steps
from app.workloads.reading import a_map
from app.workloads.shapes import like_a_pod_spec, may_hold_pods

_GUESS: Final = Kind()


class Template(NamedTuple):
    """A pod spec in an object, and the metadata beside it; both raw. Pointers are relative to the object.

    ``places`` tells where the parts of a pod stand that has no plain pod spec; ``guessed`` that the kind is not known;
    ``scheduled`` that it is a pod which the scheduler has bound.
    """

    kind: Kind
    spec_pointer: str
    spec: Any
    metadata_pointer: str
    metadata: Any
    places: Places | None = None
    guessed: bool = False
    scheduled: bool = False

    def pod(self) -> Pod:
        """The pod as the API server would have it, with its defaults; raises MalformedPod."""
        try:
            return Pod(
                self.metadata,
                defaulted(self.spec) if type(self.spec) is dict else self.spec,
                metadata_pointer=self.metadata_pointer,
                spec_pointer=self.spec_pointer,
                daemonset=True if self.kind.daemonset else None,  # else its owner tells
                scheduled=self.scheduled,
                places=self.places,
            )
        except MalformedPod as error:
            raise error if self.places is None else self.places.malformed(error) from None


def templates(obj: dict[str, Any], kinds: Kinds) -> Iterator[Template]:
    """The pod specs that are there, in the order of the kind's paths.

    None for an object of another kind, and where a spec is missing: no pod can come of such an object. Raises
    MalformedPod where something that cannot hold one stands in the way.
    """
    name = group_kind(obj)
    kind = kinds.get(name) if name else None
    if kind is not None:
        bound = name == ("", "Pod") and scheduled(obj.get("status"))
        for template in _of_kind(kind, Site(obj, "", obj, "", obj), kinds):
            yield template._replace(scheduled=True) if bound else template


def guesses(obj: dict[str, Any], kinds: Kinds) -> Iterator[Template]:
    """What looks like a pod spec in an object of a kind that nobody described, and the pods of objects inside it.

    None for a kind of which it is known that it makes no pods.
    """
    name = group_kind(obj)
    if name is not None and may_hold_pods(name[0]):
        yield from _guesses(Site(obj, "", obj, "", obj), kinds)


def _guesses(site: Site, kinds: Kinds) -> Iterator[Template]:
    """``site.value`` is an object; its metadata and status say nothing of pods to come."""
    for key, value in site.value.items():
        if key not in ("metadata", "status"):
            yield from _look(site, kinds, f"{site.pointer}/{escape(key)}", value, site.value if key == "spec" else {})


def _look(site: Site, kinds: Kinds, pointer: str, value: Any, beside: dict[str, Any]) -> Iterator[Template]:
    if type(value) is list:
        for index, entry in enumerate(value):
            yield from _look(site, kinds, f"{pointer}/{index}", entry, {})
    elif type(value) is dict:
        if like_a_pod_spec(value):
            parent = pointer.rpartition("/")[0]
            metadata = beside.get("metadata")
            yield Template(_GUESS, pointer, value, f"{parent}/metadata", metadata, guessed=True)
        elif group_kind(value) is not None:
            for found in _inner(Site(site.root, pointer, value, pointer, value), kinds):
                yield found._replace(guessed=True)
        else:
            for key, child in value.items():
                yield from _look(site, kinds, f"{pointer}/{escape(key)}", child, value if key == "spec" else {})


def _inner(site: Site, kinds: Kinds) -> Iterator[Template]:
    """The pods of an object inside another; ``site.value`` is that object."""
    name = group_kind(site.value)
    kind = kinds.get(name) if name else None
    if kind is not None:
        yield from _of_kind(kind, site, kinds)
    elif name is not None and may_hold_pods(name[0]):
        yield from _guesses(site, kinds)


def _of_kind(whole: Kind, site: Site, kinds: Kinds) -> Iterator[Template]:
    for kind in every_part(whole):
        for path in kind.steps:
            for found in _find(site.value, path, site.pointer):
                yield from _read(kind, site, found)
        for pointer in kind.objects:
            for found in _find(site.value, steps(pointer), site.pointer):
                obj = a_map(found.value, found.pointer)
                yield from _inner(Site(site.root, found.pointer, obj, found.pointer, obj), kinds)


class _Found(NamedTuple):
    """What stands at the end of a path, and what holds it."""

    pointer: str
    value: Any
    parent: Any


def _find(value: Any, path: tuple[str, ...], pointer: str) -> Iterator[_Found]:
    """What is at the path; nothing where a step of it is missing."""
    step, rest = path[0], path[1:]
    for key, child in _children(value, step, pointer):
        if child is not None:
            at = f"{pointer}/{escape(str(key))}"
            if rest:
                yield from _find(child, rest, at)
            else:
                yield _Found(at, child, value)


def _children(value: Any, step: str, pointer: str) -> Iterator[tuple[str | int, Any]]:
    if type(value) is dict:
        yield from value.items() if step == "*" else [(unescape(step), value.get(unescape(step)))]
    elif type(value) is list and step == "*":
        yield from enumerate(value)
    else:
        raise MalformedPod(pointer, value, "a map or a list" if step == "*" else "a map")


def _read(kind: Kind, site: Site, found: _Found) -> Iterable[Template]:
    if kind.reader is not None:
        value = a_map(found.value, found.pointer)
        return kind.reader(kind, Site(site.root, site.base, site.obj, found.pointer, value))
    if kind.metadata is not None:
        pointer, metadata = _metadata(kind.metadata, site, found.pointer)
    else:
        parent, _, step = found.pointer.rpartition("/")
        pointer, metadata = f"{parent}/metadata", found.parent.get("metadata") if step == "spec" else None
    return [Template(kind, found.pointer, found.value, pointer, metadata, _places(kind, site, found.pointer))]


def _metadata(path: str, site: Site, spec_pointer: str) -> tuple[str, Any]:
    """The metadata at the path; each ``*`` of it is what it is on the way to the spec."""
    taken = spec_pointer[len(site.base) :].split("/")[1:]
    value: Any = site.obj
    pointer = site.base
    for position, step in enumerate(steps(path)):
        token = taken[position] if step == "*" else step
        value = value[int(token)] if type(value) is list else a_map(value, pointer).get(unescape(token))
        pointer = f"{pointer}/{token}"
    return pointer, value


def _places(kind: Kind, site: Site, pointer: str) -> Places | None:
    """The places of a pod spec that stands at the pointer, except for what the kind does not take there."""
    if not (kind.lacks or kind.guarded or kind.rest):
        return None
    places = Places(site.root, kind.rest)
    for name in kind.lacks:
        at = f"{pointer}/{name}"
        places.put(at, Place(at, f"{site.obj['kind']} has no field for it", missing=True))
    for name, condition in kind.guarded.items():
        at = f"{pointer}/{name}"
        places.put(at, Place(at, condition))
    return places
