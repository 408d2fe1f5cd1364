"""Tekton: the steps and sidecars of a task, as one pod; the settings of the pod stand in a podTemplate of the run.

Source: tektoncd/pipeline pkg/apis/pipeline/v1/{task,container,taskrun,pipeline,pipelinerun}_types.go and
pkg/apis/pipeline/pod/template.go; in v1beta1 a step's computeResources are called resources. A run's labels and
annotations are the pod's too.
"""

from collections.abc import Iterator
from typing import Any, Final

from app.model.places import Place
from app.workloads.assembly import ADDED, READ, Assembly, Source
from app.workloads.kinds import Kind, Site
from app.workloads.reading import map_in, maps_in
from app.workloads.templates import Template

_OF_THE_RUN: Final = "the podTemplate is the run's"
_OF_ALL_TASKS: Final = "the podTemplate is for more tasks than this"
_OF_ALL_STEPS: Final = "the stepTemplate is for all steps"
_OVERRIDES: Final = {"steps": ("stepSpecs", "stepOverrides"), "sidecars": ("sidecarSpecs", "sidecarOverrides")}


def read_task(kind: Kind, site: Site) -> Iterator[Template]:
    """The pod of a Task; what its podTemplate will be is not known."""
    yield from _task(kind, site, site.value, site.pointer, None)


def read_task_run(kind: Kind, site: Site) -> Iterator[Template]:
    """The pod of a TaskRun with a task of its own."""
    spec, at = site.value, f"{site.pointer}/taskSpec"
    source = Source(map_in(spec, "podTemplate", site.pointer), f"{site.pointer}/podTemplate")
    yield from _task(kind, site, map_in(spec, "taskSpec", site.pointer), at, source, Source(spec, site.pointer))


def read_pipeline(kind: Kind, site: Site) -> Iterator[Template]:
    """The pods of a Pipeline's own tasks."""
    for _, task, at in _tasks(site.value, site.pointer):
        yield from _task(kind, site, task, at, None)


def read_pipeline_run(kind: Kind, site: Site) -> Iterator[Template]:
    """The pods of the tasks of a PipelineRun with a pipeline of its own."""
    spec, pointer = site.value, site.pointer
    common = _pod_template(map_in(spec, "taskRunTemplate", pointer), f"{pointer}/taskRunTemplate")
    if not common.fields:
        common = _pod_template(spec, pointer) if spec.get("podTemplate") else common
    runs = {str(run.get("pipelineTaskName")): Source(run, at) for at, run in maps_in(spec, "taskRunSpecs", pointer)}
    for name, task, at in _tasks(map_in(spec, "pipelineSpec", pointer), f"{pointer}/pipelineSpec"):
        run = runs.get(name)
        own = _pod_template(run.fields, run.pointer) if run is not None else None
        yield from _task(kind, site, task, at, own._replace(reason=None) if own and own.fields else common, run)


def _pod_template(fields: Any, pointer: str) -> Source:
    name = "taskPodTemplate" if "taskPodTemplate" in fields else "podTemplate"
    return Source(map_in(fields, name, pointer), f"{pointer}/{name}", _OF_ALL_TASKS)


def _tasks(pipeline: dict[str, Any], pointer: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    for section in ("tasks", "finally"):
        for at, task in maps_in(pipeline, section, pointer):
            yield str(task.get("name")), map_in(task, "taskSpec", at), f"{at}/taskSpec"


def _task(
    kind: Kind, site: Site, task: dict[str, Any], pointer: str, settings: Source | None, run: Source | None = None
) -> Iterator[Template]:
    """The pod of one task; ``settings`` is its podTemplate, ``run`` holds what changes its steps."""
    if not task.get("steps"):
        return
    pod = Assembly(site, pointer)
    common = Source(map_in(task, "stepTemplate", pointer), f"{pointer}/stepTemplate", _OF_ALL_STEPS)
    whole = run if run is not None and run.fields.get("computeResources") else None
    for section in ("steps", "sidecars"):
        changed = _changes(section, run)
        for at, step in maps_in(task, section, pointer):
            sources = [*changed.get(str(step.get("name")), ()), Source(step, at)]
            if section == "steps":
                # What a run asks for its whole task takes the place of what the steps ask for.
                sources = [*sources, common] if whole is None else [whole] if at.endswith("/steps/0") else []
            _container(pod, step, at, sources, common if section == "steps" else None)
    for name in READ:
        if settings is not None:
            pod.choose(name, settings)
        elif name in ADDED:
            pod.lack(name, pointer, _OF_THE_RUN)
    volumes = maps_in(settings.fields, "volumes", settings.pointer) if settings is not None else ()
    pod.volumes([*maps_in(task, "volumes", pointer), *volumes], ())
    pod.labelled(site.obj.get("metadata"), f"{site.base}/metadata")
    yield pod.template(kind)


def _changes(section: str, run: Source | None) -> dict[Any, list[Source]]:
    """By name of the step, what the run says of it."""
    found: dict[Any, list[Source]] = {}
    if run is not None:
        for key in _OVERRIDES[section]:
            for at, change in maps_in(run.fields, key, run.pointer):
                found.setdefault(str(change.get("name")), []).append(Source(change, at))
    return found


def _container(pod: Assembly, step: dict[str, Any], pointer: str, sources: list[Source], common: Source | None) -> None:
    """One step: its resources are of the first source that has any, the rest is its own or the stepTemplate's."""
    named = [(source, key) for source in sources for key in ("computeResources", "resources")]
    own = (Source(step, pointer), "computeResources")
    source, key = next((each for each in named if each[0].fields.get(each[1])), own)
    template = common.fields if common is not None else {}
    inherited = {name: value for name, value in template.items() if step.get(name) is None}
    at = pod.add("containers", {**step, **inherited, "resources": source.fields.get(key) if sources else None}, pointer)
    if common is not None:
        for name in inherited:
            pod.places.put(f"{at}/{name}", Place(f"{common.pointer}/{name}", common.reason))
    pod.places.put(f"{at}/resources", Place(f"{source.pointer}/{key}", source.reason))
