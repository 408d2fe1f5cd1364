"""Argo Workflows: the templates of a workflow that run containers, one pod each.

A template has some fields of a pod spec; what it leaves out it gets from templateDefaults and the workflow. It has no
runtimeClassName: only `podSpecPatch`, a text with a strategic merge patch, can say one.

Source: argoproj/argo-workflows pkg/apis/workflow/v1alpha1/workflow_types.go, workflow/controller/workflowpod.go
(createWorkflowPod, addSchedulingConstraints, addMetadata, addVolumeReferences).
"""

from collections.abc import Iterator
from typing import Any, Final

from app.workloads.assembly import READ, Assembly, Source
from app.workloads.kinds import Kind, Site
from app.workloads.readers.argo_patch import apply
from app.workloads.reading import a_map, list_in, map_in, maps_in
from app.workloads.templates import Template

_FIELDS: Final = ("tolerations", "nodeSelector", "affinity", "schedulerName", "serviceAccountName")
_NO_FIELD: Final = "a workflow's template has no field for it"
_OF_ALL_TEMPLATES: Final = "that of the workflow is for more templates than this"


def read_workflow(kind: Kind, site: Site) -> Iterator[Template]:
    """The pods of a workflow's spec."""
    for at, template in maps_in(site.value, "templates", site.pointer):
        yield from _template(kind, site, template, at)


def _template(kind: Kind, site: Site, template: dict[str, Any], pointer: str) -> Iterator[Template]:
    if any(template.get(name) is not None for name in ("container", "script", "containerSet")):
        yield _pod(site, template, pointer).template(kind)
    for at, task in maps_in(map_in(template, "dag", pointer), "tasks", f"{pointer}/dag"):
        yield from _inline(kind, site, task, at)
    for at, step in _steps(template, pointer):
        yield from _inline(kind, site, step, at)


def _steps(template: dict[str, Any], pointer: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Steps that run side by side are a list; one by itself may stand without."""
    for index, group in enumerate(list_in(template, "steps", pointer)):
        at = f"{pointer}/steps/{index}"
        if type(group) is list:
            yield from ((f"{at}/{number}", a_map(step, f"{at}/{number}")) for number, step in enumerate(group))
        else:
            yield at, a_map(group, at)


def _inline(kind: Kind, site: Site, step: dict[str, Any], pointer: str) -> Iterator[Template]:
    if step.get("inline") is not None:
        yield from _template(kind, site, map_in(step, "inline", pointer), f"{pointer}/inline")


def _pod(site: Site, template: dict[str, Any], pointer: str) -> Assembly:
    workflow, at = site.value, site.pointer
    defaults = map_in(workflow, "templateDefaults", at)
    sources = [
        Source(template, pointer),
        Source(defaults, f"{at}/templateDefaults", _OF_ALL_TEMPLATES),
        Source(workflow, at, _OF_ALL_TEMPLATES),
    ]
    pod = Assembly(site, pointer)
    for name in READ:
        if name in _FIELDS:
            pod.choose(name, *sources)
        else:
            pod.lack(name, pointer, _NO_FIELD)
    _containers(pod, template)
    pod.volumes(maps_in(template, "volumes", pointer), maps_in(workflow, "volumes", at))
    pod.labelled(template.get("metadata"), f"{pointer}/metadata")
    pod.merge_labels(map_in(workflow, "podMetadata", at), f"{at}/podMetadata")
    for source in reversed(sources):
        apply(pod, source)
    return pod


def _containers(pod: Assembly, template: dict[str, Any]) -> None:
    pointer = pod.pointer
    for name in ("container", "script"):
        if template.get(name) is not None:
            pod.add("containers", map_in(template, name, pointer), f"{pointer}/{name}", name="main")
    for at, container in maps_in(map_in(template, "containerSet", pointer), "containers", f"{pointer}/containerSet"):
        pod.add("containers", container, at)
    for at, container in maps_in(template, "sidecars", pointer):
        pod.add("containers", container, at)
    for at, container in maps_in(template, "initContainers", pointer):
        pod.add("initContainers", container, at)
