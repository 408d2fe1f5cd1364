"""Ray: the pods of a RayCluster, one template a group, and the autoscaler in the head pod.

Source: ray-project/kuberay ray-operator/apis/ray/v1/raycluster_types.go, and controllers/ray/common/pod.go: with
enableInTreeAutoscaling the head pod gets a container "autoscaler", made of autoscalerOptions.
"""

from collections.abc import Iterator

from app.model.places import Place, Places
from app.workloads.kinds import Kind, Site
from app.workloads.reading import map_in, maps_in
from app.workloads.templates import Template


def read_cluster(kind: Kind, site: Site) -> Iterator[Template]:
    """The head, then the worker groups of a RayCluster's spec."""
    spec, pointer = site.value, site.pointer
    head = f"{pointer}/headGroupSpec"
    found = _template(kind, map_in(spec, "headGroupSpec", pointer), head)
    if found is not None:
        autoscaler = map_in(spec, "autoscalerOptions", pointer)
        asked = autoscaler and spec.get("enableInTreeAutoscaling") is True
        yield _with_autoscaler(found, site, f"{pointer}/autoscalerOptions") if asked else found
    for at, group in maps_in(spec, "workerGroupSpecs", pointer):
        found = _template(kind, group, at)
        if found is not None:
            yield found


def _template(kind: Kind, group: dict[str, object], pointer: str) -> Template | None:
    at = f"{pointer}/template"
    template = map_in(group, "template", pointer)
    spec = template.get("spec")
    return None if spec is None else Template(kind, f"{at}/spec", spec, f"{at}/metadata", template.get("metadata"))


def _with_autoscaler(head: Template, site: Site, pointer: str) -> Template:
    containers = head.spec.get("containers") if type(head.spec) is dict else None
    if type(containers) is not list:  # whoever reads the pod says what is wrong with it
        return head
    places = Places(site.root)
    places.put(f"{head.spec_pointer}/containers/{len(containers)}", Place(pointer))
    autoscaler = {"name": "autoscaler", **site.value["autoscalerOptions"]}
    return head._replace(spec={**head.spec, "containers": [*containers, autoscaler]}, places=places)
