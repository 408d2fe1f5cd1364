"""The kinds that hold pods, as data.

A kind is known by its group too: a Job of ``batch.volcano.sh`` is not a Job of ``batch``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from app.workloads.templates import Template


class Site(NamedTuple):
    """Something in an object: the ``value`` at ``pointer`` in ``root``, and the object that it is part of, which may be
    a part of ``root`` itself (at ``base``)."""

    root: dict[str, Any]
    base: str
    obj: dict[str, Any]
    pointer: str
    value: Any


Reader = Callable[["Kind", Site], Iterable["Template"]]
"""Puts the pods together that a kind describes in fields of its own, at one of its paths."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Where an object of this kind has its pods.

    ``paths`` are JSON Pointers of pod specs; the step ``*`` stands for any key or index. ``validated`` tells that the
    API server validates the template by itself, before any pod is made of it: when the object is applied, or when its
    controller makes a Job, StatefulSet or the like of it. ``daemonset``: a pod of it belongs on every node.

    ``metadata`` is the pointer of what holds labels and annotations, where that is not ``metadata`` beside ``spec``.
    ``lacks`` are fields of a pod spec that the kind does not have; ``guarded`` are fields that it takes under a
    condition only, with the condition in words. ``rest`` names what else a pod is made of. A ``reader`` puts pods
    together where no plain pod spec is; ``about`` says of which fields. ``objects`` are pointers of whole objects.
    ``parts`` are further paths, of which something else is true. ``source`` says where all this is from.
    """

    paths: tuple[str, ...] = ()
    validated: bool = False
    daemonset: bool = False
    metadata: str | None = None
    lacks: tuple[str, ...] = ()
    guarded: Mapping[str, str] = field(default_factory=dict)
    rest: str | None = None
    reader: Reader | None = None
    about: str = ""
    objects: tuple[str, ...] = ()
    parts: tuple["Kind", ...] = ()
    source: str = ""
    steps: tuple[tuple[str, ...], ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(steps(path) for path in self.paths))


def steps(pointer: str) -> tuple[str, ...]:
    """The steps of a JSON Pointer, still escaped."""
    return tuple(pointer[1:].split("/"))


Kinds = Mapping[tuple[str, str], Kind]
"""Kinds by (group, kind); the group of ``v1`` is ""."""

_TEMPLATE: Final = Kind(("/spec/template/spec",), validated=True)

CORE_KINDS: Final[dict[tuple[str, str], Kind]] = {
    ("", "Pod"): Kind(("/spec",)),
    ("", "PodTemplate"): Kind(("/template/spec",), validated=True),
    ("", "ReplicationController"): _TEMPLATE,
    ("apps", "Deployment"): _TEMPLATE,
    ("apps", "StatefulSet"): _TEMPLATE,
    ("apps", "DaemonSet"): Kind(("/spec/template/spec",), validated=True, daemonset=True),
    ("apps", "ReplicaSet"): _TEMPLATE,
    ("batch", "Job"): _TEMPLATE,
    ("batch", "CronJob"): Kind(("/spec/jobTemplate/spec/template/spec",), validated=True),
}
"""The kinds that every cluster has."""


def group_kind(obj: Mapping[str, Any]) -> tuple[str, str] | None:
    """The (group, kind) of an object; None where it does not say, or names a version that the core group never had."""
    version, kind = obj.get("apiVersion"), obj.get("kind")
    if type(version) is not str or type(kind) is not str:
        return None
    group, slash, _ = version.rpartition("/")
    return (group, kind) if slash or version == "v1" else None


def every_part(kind: Kind) -> Iterator[Kind]:
    """The kind and its parts, in the order in which pods are looked for."""
    yield kind
    yield from kind.parts
