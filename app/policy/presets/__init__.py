"""The presets: one data file a vendor or scheduler, each fact with its source."""

from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from app.documents import DocumentError, read
from app.model.gpu import Vendor

NAMES = ("nvidia", "amd", "intel", "gaudi", "neuron", "tpu", "hami", "kai", "volcano", "kata")


class Preset(BaseModel):
    """What a preset file holds; see Vendor for the meaning of the keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    preset: str
    description: str
    sources: list[str] = Field(min_length=1)
    resources: list[str] = []
    whole: list[str] = []
    deviceClasses: list[str] = []
    runtimeClasses: list[str] = []
    annotations: list[str] = []
    environment: dict[str, list[str]] = {}
    hide: dict[str, str] = {}
    bypassAnnotations: list[str] = []
    devicePaths: list[str] = []
    mountPaths: list[str] = []
    nodeLabels: list[str] = []
    taintKeys: list[str] = []


def read_preset(name: str) -> Preset:
    """The file of a preset, checked."""
    content = Path(__file__).with_name(f"{name}.yaml").read_bytes()
    document = next(iter(read(content, f"{name}.yaml")))
    if isinstance(document, DocumentError):  # pragma: no cover - the files are ours, and tested
        raise document
    return Preset.model_validate(document.value)


@cache
def preset(name: str) -> Vendor:
    """The vendor set of that name."""
    found: dict[str, Any] = read_preset(name).model_dump()
    return Vendor(
        name=found["preset"],
        resources=tuple(found["resources"]),
        whole=tuple(found["whole"]),
        device_classes=tuple(found["deviceClasses"]),
        runtime_classes=tuple(found["runtimeClasses"]),
        annotations=tuple(found["annotations"]),
        environment={name: tuple(values) for name, values in found["environment"].items()},
        hide=found["hide"],
        bypass_annotations=tuple(found["bypassAnnotations"]),
        device_paths=tuple(found["devicePaths"]),
        mount_paths=tuple(found["mountPaths"]),
        node_labels=tuple(found["nodeLabels"]),
        taint_keys=tuple(found["taintKeys"]),
    )
