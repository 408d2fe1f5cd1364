"""Kubeflow Trainer v2: the training nodes of a TrainJob.

A TrainJob has no pod template. It names the runtime that has one, and says what is different: resources, image and
environment of the container "node", and patches.

Source: kubeflow/trainer pkg/apis/trainer/v1alpha1/trainjob_types.go; the older podTemplateOverrides and
podSpecOverrides as in v2.1 and v2.0 of the same file.
"""

from collections.abc import Iterator
from typing import Any, Final

from app.model.words import quoted
from app.workloads.assembly import ADDED, READ, Assembly, Source
from app.workloads.kinds import Kind, Site
from app.workloads.reading import map_in, maps_in, text_in
from app.workloads.templates import Template

_NODE: Final = "node"


def read_train_job(kind: Kind, site: Site) -> Iterator[Template]:
    """The training node, if the TrainJob says what it needs. Else nothing is known of its pods."""
    trainer, pointer = map_in(site.value, "trainer", site.pointer), f"{site.pointer}/trainer"
    if trainer.get("resourcesPerNode") is None:
        return
    reference = map_in(site.value, "runtimeRef", site.pointer)
    at = f"{site.pointer}/runtimeRef"
    runtime = f"{text_in(reference, 'kind', at) or 'ClusterTrainingRuntime'} {quoted(text_in(reference, 'name', at))}"
    reason = f"its pod template is that of {runtime}"
    pod = Assembly(site, pointer, rest=runtime)
    pod.add("containers", trainer, pointer, name=_NODE, resources="resourcesPerNode")
    patches = [Source(spec, at, reason) for at, spec in _patches(site)]
    for name in READ:
        if any(patch.fields.get(name) for patch in patches):
            pod.choose(name, *patches)
        elif name in ADDED:
            pod.lack(name, pointer, reason)
    yield pod.template(kind)


def _patches(site: Site) -> Iterator[tuple[str, dict[str, Any]]]:
    """The pod specs, each with its pointer, that change the template of the training nodes; the last one counts."""
    found = [*_runtime_patches(site), *_overrides(site)]
    yield from reversed(found)


def _runtime_patches(site: Site) -> Iterator[tuple[str, dict[str, Any]]]:
    for at, patch in maps_in(site.value, "runtimePatches", site.pointer):
        value, pointer = _descend(patch, at, "trainingRuntimeSpec", "template", "spec")
        for job_at, job in maps_in(value, "replicatedJobs", pointer):
            if job.get("name") == _NODE:
                spec, spec_at = _descend(job, job_at, "template", "spec", "template", "spec")
                yield spec_at, spec


def _overrides(site: Site) -> Iterator[tuple[str, dict[str, Any]]]:
    for key, inner in (("podTemplateOverrides", ("spec",)), ("podSpecOverrides", ())):
        for at, override in maps_in(site.value, key, site.pointer):
            if any(target.get("name") == _NODE for _, target in maps_in(override, "targetJobs", at)):
                spec, spec_at = _descend(override, at, *inner)
                yield spec_at, spec


def _descend(value: dict[str, Any], pointer: str, *keys: str) -> tuple[dict[str, Any], str]:
    for key in keys:
        value, pointer = map_in(value, key, pointer), f"{pointer}/{key}"
    return value, pointer
