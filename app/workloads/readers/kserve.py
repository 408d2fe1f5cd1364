"""KServe: the components of an InferenceService.

A component is a pod spec and more: `predictor.model` (or the name of a framework) is a container, to which the
ServingRuntime that fits adds what it does not say.

Source: kserve/kserve pkg/apis/serving/v1beta1/{inference_service,component,predictor,explainer}.go,
pkg/constants/constants.go (the container's name, the annotation of the deployment mode). In KServe's serverless mode a
component becomes a Knative Service, which takes some fields only with a flag of Knative's.
"""

from collections.abc import Iterator
from typing import Any, Final

from app.model.places import Place, Places
from app.workloads.kinds import Kind, Site
from app.workloads.knative import FLAGS
from app.workloads.reading import a_map, map_in
from app.workloads.templates import Template

_FRAMEWORKS: Final = (
    "model", "sklearn", "xgboost", "tensorflow", "pytorch", "triton", "onnx", "huggingface", "pmml", "lightgbm",
    "paddle", "mlflow", "art",
)  # fmt: skip
_MODE: Final = "serving.kserve.io/deploymentMode"
_WITHOUT_KNATIVE: Final = ("RawDeployment", "Standard", "ModelMesh")


def read_component(kind: Kind, site: Site) -> Iterator[Template]:
    """The pod of a predictor, transformer or explainer, and that of its workers."""
    component, pointer = site.value, site.pointer
    name = next((name for name in _FRAMEWORKS if component.get(name) is not None), None)
    if name is not None or component.get("containers"):
        yield _pod(kind, site, component, pointer, name)
    workers = map_in(component, "workerSpec", pointer)
    if workers.get("containers"):
        yield _pod(kind, site, workers, f"{pointer}/workerSpec", None)


def _pod(kind: Kind, site: Site, spec: dict[str, Any], pointer: str, framework: str | None) -> Template:
    places = Places(site.root, rest="its ServingRuntime" if framework else None)
    if not _without_knative(site):
        for field, reason in FLAGS.items():
            places.put(f"{pointer}/{field}", Place(f"{pointer}/{field}", f"in serverless mode {reason}"))
    if framework is not None:
        containers = spec.get("containers") or []
        model = a_map(spec[framework], f"{pointer}/{framework}")
        if type(containers) is list:
            places.put(f"{pointer}/containers/{len(containers)}", Place(f"{pointer}/{framework}"))
            spec = {**spec, "containers": [*containers, {"name": "kserve-container", **model}]}
    return Template(kind, pointer, spec, pointer, spec, places)  # labels and annotations stand beside the containers


def _without_knative(site: Site) -> bool:
    metadata = map_in(site.obj, "metadata", site.base)
    return map_in(metadata, "annotations", f"{site.base}/metadata").get(_MODE) in _WITHOUT_KNATIVE
