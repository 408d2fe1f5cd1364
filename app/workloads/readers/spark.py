"""Spark operator: the driver and the executors of a SparkApplication.

Source: kubeflow/spark-operator api/v1beta2/sparkapplication_types.go SparkPodSpec, internal/webhook/
sparkpod_defaulter.go: `gpu` becomes a limit of Spark's own container, `template` is what the pod starts from, sidecars
follow, and volumes are the application's that are mounted.
"""

from collections.abc import Iterator
from typing import Any, Final

from app.model.patch import escape
from app.model.places import Place
from app.workloads.assembly import READ, Assembly, Source
from app.workloads.kinds import Kind, Site
from app.workloads.reading import map_in, maps_in, text_in
from app.workloads.templates import Template

_SHARED: Final = "the application's own is for driver and executors alike"
_CONTAINER: Final = ("image", "env", "envFrom", "securityContext", "volumeMounts")


def read_application(kind: Kind, site: Site) -> Iterator[Template]:
    """The driver, then the executors of a SparkApplication's spec."""
    for role in ("driver", "executor"):
        if site.value.get(role) is not None:
            yield _pod(site, role).template(kind)


def _pod(site: Site, role: str) -> Assembly:
    pointer = f"{site.pointer}/{role}"
    own = map_in(site.value, role, site.pointer)
    template = map_in(own, "template", pointer)
    spec, spec_at = map_in(template, "spec", f"{pointer}/template"), f"{pointer}/template/spec"
    pod = Assembly(site, pointer)
    sources = [Source(own, pointer), Source(spec, spec_at), Source(site.value, site.pointer, _SHARED)]
    for name in READ:
        # The application itself has a nodeSelector only, and drivers have no serviceAccountName but a serviceAccount.
        pod.choose(name, *(sources if name == "nodeSelector" else sources[:2]))
    pod.choose("serviceAccount", Source(own, pointer))
    _containers(pod, own, spec, spec_at)
    for section in ("sidecars", "initContainers"):
        for at, container in maps_in(own, section, pointer):
            pod.add("containers" if section == "sidecars" else section, container, at)
    pod.volumes(maps_in(spec, "volumes", spec_at), maps_in(site.value, "volumes", site.pointer))
    pod.labelled(template.get("metadata"), f"{pointer}/template/metadata")
    pod.merge_labels(own, pointer)
    return pod


def _containers(pod: Assembly, own: dict[str, Any], spec: dict[str, Any], spec_at: str) -> None:
    pointer = pod.pointer
    first, *others = maps_in(spec, "containers", spec_at) or [("", {})]
    fields = {key: own[key] for key in _CONTAINER if own.get(key) is not None}
    at = pod.add("containers", {"name": "spark", **first[1], **fields}, pointer)
    if first[1]:
        for key in first[1].keys() - fields.keys():
            pod.places.put(f"{at}/{key}", Place(f"{first[0]}/{key}"))
    else:
        pod.places.put(f"{at}/resources", Place(pointer, "only its gpu can be written", whole=True))
    gpu = map_in(own, "gpu", pointer)
    name = text_in(gpu, "name", f"{pointer}/gpu")
    if name:
        resources = map_in(first[1], "resources", first[0])
        limits = {**map_in(resources, "limits", f"{first[0]}/resources"), name: gpu.get("quantity")}
        pod.spec["containers"][0]["resources"] = {**resources, "limits": limits}
        pod.places.put(f"{at}/resources/limits/{escape(name)}", Place(f"{pointer}/gpu/quantity"))
    for other_at, other in others:
        pod.add("containers", other, other_at)
