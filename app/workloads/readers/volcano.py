"""Volcano: the tasks of a Job, each with a pod template.

Source: volcano-sh/volcano pkg/controllers/job/job_controller_util.go createJobPod: a pod whose template names no
scheduler gets that of its Job, which Volcano's own webhook makes "volcano" where it is not set.
"""

from collections.abc import Iterator

from app.workloads.kinds import Kind, Site
from app.workloads.reading import map_in, maps_in, text_in
from app.workloads.templates import Template


def read_job(kind: Kind, site: Site) -> Iterator[Template]:
    """The tasks of a Job's spec."""
    scheduler = text_in(site.value, "schedulerName", site.pointer) or "volcano"
    for pointer, task in maps_in(site.value, "tasks", site.pointer):
        at = f"{pointer}/template"
        template = map_in(task, "template", pointer)
        spec = template.get("spec")
        if type(spec) is dict and not spec.get("schedulerName"):
            spec = {**spec, "schedulerName": scheduler}
        if spec is not None:
            yield Template(kind, f"{at}/spec", spec, f"{at}/metadata", template.get("metadata"))
