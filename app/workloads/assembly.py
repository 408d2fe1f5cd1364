"""Pods put together from fields that stand in several places of an object."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from app.model.patch import escape
from app.model.places import Place, Places
from app.workloads.kinds import Kind, Site
from app.workloads.reading import a_map, map_in
from app.workloads.templates import Template

ADDED: Final = ("runtimeClassName", "tolerations", "nodeSelector")
"""The fields of a pod spec that repairs and injections add to."""

READ: Final = (*ADDED, "affinity", "hostUsers", "nodeName", "schedulerName", "schedulingGates", "serviceAccountName")
"""The fields of a pod spec that something looks at, beside containers, volumes and claims."""


class Source(NamedTuple):
    """A map that holds fields of a pod spec, and where it stands. ``reason`` tells why nothing can be added there for
    this pod alone; None if it can."""

    fields: dict[str, Any]
    pointer: str
    reason: str | None = None


class Assembly:
    """A pod spec in the making, with the places of its parts.

    ``pointer`` is that of the map which describes the pod, and is taken for the pointer of the pod spec.
    """

    def __init__(self, site: Site, pointer: str, rest: str | None = None) -> None:
        self.pointer = pointer
        self.spec: dict[str, Any] = {"containers": []}
        self.metadata: Any = None
        self.metadata_pointer = f"{pointer}/metadata"
        self.places = Places(site.root, rest)

    def choose(self, name: str, *sources: Source, field: str | None = None) -> None:
        """Take a field of the pod spec from the first source that says something; what is added goes to the first.

        ``field`` is what the sources call it.
        """
        key = field or name
        source = next((each for each in sources if each.fields.get(key)), sources[0])
        value = source.fields.get(key)
        if value is not None:
            self.spec[name] = value
        self.places.put(f"{self.pointer}/{name}", Place(f"{source.pointer}/{key}", source.reason))

    def lack(self, name: str, pointer: str, reason: str) -> None:
        """The object has no such field; ``pointer`` is the map that it would belong to."""
        self.places.put(f"{self.pointer}/{name}", Place(f"{pointer}/{name}", reason, missing=True))

    def add(self, section: str, raw: dict[str, Any], pointer: str, *, name: str = "", resources: str = "") -> str:
        """Add a container, and return its pointer in the pod spec.

        ``name`` is what it will be called if the object does not say; ``resources`` what its resources are called.
        """
        listed = self.spec.setdefault(section, [])
        at = f"{self.pointer}/{section}/{len(listed)}"
        container = {"name": name, **raw} if name else raw
        self.places.put(at, Place(pointer))
        if resources:
            container = {**container, "resources": raw.get(resources)}
            self.places.put(f"{at}/resources", Place(f"{pointer}/{resources}"))
        listed.append(container)
        return at

    def volumes(self, own: Iterable[tuple[str, dict[str, Any]]], shared: Iterable[tuple[str, dict[str, Any]]]) -> None:
        """The pod's own volumes, and those of the shared ones that its containers mount; each with its pointer."""
        mounted = self._mounted()
        listed = [*own, *(each for each in shared if each[1].get("name") in mounted)]
        self.spec["volumes"] = [volume for _, volume in listed]
        for index, (at, _) in enumerate(listed):
            self.places.put(f"{self.pointer}/volumes/{index}", Place(at))

    def _mounted(self) -> list[str]:
        """The names of the volumes that are mounted, as far as they can be read: what cannot is said by the rules."""
        containers = [*self.spec["containers"], *self.spec.get("initContainers", ())]
        mounts = [each.get("volumeMounts") for each in containers]
        listed = [mount for each in mounts if type(each) is list for mount in each if type(mount) is dict]
        return [name for mount in listed if type(name := mount.get("name")) is str]

    def labelled(self, metadata: Any, pointer: str) -> None:
        """Labels and annotations of the pod are those in this map."""
        self.metadata, self.metadata_pointer = metadata, pointer

    def merge_labels(self, shared: dict[str, Any], pointer: str) -> None:
        """Labels and annotations that the pod gets too, unless it says otherwise itself."""
        own = {} if self.metadata is None else a_map(self.metadata, self.metadata_pointer)
        merged = dict(own)
        for section in ("labels", "annotations"):
            given = map_in(shared, section, pointer)
            mine = map_in(own, section, self.metadata_pointer)
            merged[section] = {**given, **mine}
            for key in given.keys() - mine.keys():
                at = f"{section}/{escape(key)}"
                self.places.put(f"{self.metadata_pointer}/{at}", Place(f"{pointer}/{at}"))
        self.metadata = merged

    def template(self, kind: Kind) -> Template:
        """The template of the pod."""
        return Template(kind, self.pointer, self.spec, self.metadata_pointer, self.metadata, self.places)
