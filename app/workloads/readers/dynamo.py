"""Dynamo: the services of a DynamoGraphDeployment, or the one of a DynamoComponentDeployment.

Source: ai-dynamo/dynamo deploy/operator/api/v1alpha1/{dynamocomponentdeployment_types,common}.go. `extraPodSpec` is a
pod spec with the main container beside its containers; `resources` has names of its own, and real ones under `custom`
only. In v1beta1 a component has a plain pod template.
"""

from collections.abc import Iterator
from typing import Any, Final

from app.model.patch import escape
from app.model.places import Note, Place
from app.workloads.assembly import READ, Assembly, Source
from app.workloads.kinds import Kind, Site
from app.workloads.reading import map_in, maps_in
from app.workloads.templates import Template

_SHORT: Final = (
    "gpu is a name of Dynamo's, not of a resource; its operator chooses a resource when it creates pods, and they are "
    "judged then"
)


def read_service(kind: Kind, site: Site) -> Iterator[Template]:
    """The pod of a service, if it says anything of it."""
    service, pointer = site.value, site.pointer
    if service.get("extraPodSpec") is None and service.get("resources") is None:
        return
    spec, at = map_in(service, "extraPodSpec", pointer), f"{pointer}/extraPodSpec"
    pod = Assembly(site, pointer)
    for name in (*READ, "resourceClaims", "volumes", "initContainers"):
        pod.choose(name, Source(spec, at))
    for container_at, container in maps_in(spec, "containers", at):
        pod.add("containers", container, container_at)
    _main(pod, map_in(spec, "mainContainer", at), f"{at}/mainContainer", site)
    extra = map_in(service, "extraPodMetadata", pointer)
    pod.labelled(extra, f"{pointer}/extraPodMetadata")
    pod.merge_labels(service, pointer)
    yield pod.template(kind)


def _main(pod: Assembly, main: dict[str, Any], pointer: str, site: Site) -> None:
    """The main container, with the resources that stand under `custom`, and a note on the name that is none."""
    where = pod.add("containers", main, pointer, name="main")
    merged = dict(map_in(main, "resources", pointer))
    given, at = map_in(site.value, "resources", site.pointer), f"{site.pointer}/resources"
    for section in ("limits", "requests"):
        named, section_at = map_in(given, section, at), f"{at}/{section}"
        custom = map_in(named, "custom", section_at)
        if custom:
            merged[section] = {**map_in(merged, section, f"{pointer}/resources"), **custom}
        for name in custom:
            place = Place(f"{section_at}/custom/{escape(name)}")
            pod.places.put(f"{where}/resources/{section}/{escape(name)}", place)
        if named.get("gpu") is not None:
            pod.places.notes.append(Note(f"{section_at}/gpu", _SHORT))
    if given.get("claims") is not None:
        merged["claims"] = given["claims"]
        pod.places.put(f"{where}/resources/claims", Place(f"{at}/claims"))
    pod.spec["containers"][-1]["resources"] = merged
