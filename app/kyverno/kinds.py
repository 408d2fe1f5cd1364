"""Kinds as ``match`` names them: ``Pod``, ``v1/Pod``, ``apps/v1/Deployment``, ``Pod/exec``, ``*``."""

import re
from typing import Final, NamedTuple

from app.kyverno.values import wildcard

POD_CONTROLLERS: Final = (
    "DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController", "StatefulSet", "CronJob",
)  # fmt: skip
"""The kinds for which Kyverno makes rules from those for pods."""
GROUPS: Final = {
    "Pod": "",
    "ReplicationController": "",
    "DaemonSet": "apps",
    "Deployment": "apps",
    "ReplicaSet": "apps",
    "StatefulSet": "apps",
    "Job": "batch",
    "CronJob": "batch",
}

_VERSION: Final = re.compile(r"v\d((alpha|beta)\d)?|\*")


class Kind(NamedTuple):
    """A group, version and kind of a resource."""

    group: str
    version: str
    kind: str


class KindSelector(NamedTuple):
    """Patterns of group, version, kind and subresource; ``subresource`` is empty where it does not matter."""

    group: str
    version: str
    kind: str
    subresource: str

    def selects(self, kind: Kind, subresource: str) -> bool:
        """Whether it means this kind. One of pods means their ephemeral containers too."""
        return (
            wildcard(self.kind, kind.kind)
            and wildcard(self.group, kind.group)
            and wildcard(self.version, kind.version)
            and (
                not self.subresource
                or wildcard(self.subresource, subresource)
                or (kind.kind == "Pod" and subresource == "ephemeralcontainers")
            )
        )

    @property
    def pods(self) -> bool:
        """Whether pods are among what it means."""
        return wildcard(self.kind, "Pod") and wildcard(self.group, "") and wildcard(self.version, "v1")


def parse(text: str) -> KindSelector | None:
    """The selector that a text is; None for what is none."""
    *first, last = text.split("/")
    name, dot, subresource = last.partition(".")
    parts = [*first, name, subresource] if dot else [*first, last]
    if not all(parts):
        return None
    match parts:
        case [kind]:
            return KindSelector("*", "*", kind, "")
        case [version, kind] if _VERSION.fullmatch(version) and not (version == "*" and kind == "*"):
            return KindSelector("*", version, kind, "")
        case [kind, subresource]:
            return KindSelector("*", "*", kind, subresource)
        case [version, kind, subresource] if _VERSION.fullmatch(version):
            return KindSelector("*", version, kind, subresource)
        case [group, version, kind]:
            return KindSelector(group, version, kind, "")
        case [group, version, kind, subresource]:
            return KindSelector(group, version, kind, subresource)
    return None


def of(resource: dict[str, object]) -> Kind:
    """The kind of an object, from its ``apiVersion`` and ``kind``."""
    group, _, version = str(resource.get("apiVersion", "")).rpartition("/")
    return Kind(group, version, str(resource.get("kind", "")))
