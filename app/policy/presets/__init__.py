"""The presets: one data file a vendor or scheduler, each fact with its source.

A file holds ``preset`` (its name), ``description``, ``sources``, and what Vendor tells of, by the keys below. The tests
hold the files against that; to do so here would take longer than all else that a policy needs of them.
"""

from functools import cache
from pathlib import Path
from typing import Any

from app.documents import DocumentError, read
from app.model.gpu import Vendor

NAMES = ("nvidia", "amd", "intel", "gaudi", "neuron", "tpu", "hami", "kai", "volcano", "kata")


def read_preset(name: str) -> dict[str, Any]:
    """What the file of a preset says."""
    content = Path(__file__).with_name(f"{name}.yaml").read_bytes()
    document = next(iter(read(content, f"{name}.yaml")))
    if isinstance(document, DocumentError):  # pragma: no cover - the files are ours, and tested
        raise document
    return document.value  # type: ignore[no-any-return]


@cache
def preset(name: str) -> Vendor:
    """The vendor set of that name."""
    found = read_preset(name)

    def names(key: str) -> tuple[str, ...]:
        return tuple(found.get(key, ()))

    return Vendor(
        name=name,
        resources=names("resources"),
        whole=names("whole"),
        device_classes=names("deviceClasses"),
        runtime_classes=names("runtimeClasses"),
        annotations=names("annotations"),
        environment={variable: tuple(values) for variable, values in found.get("environment", {}).items()},
        hide=found.get("hide", {}),
        bypass_annotations=names("bypassAnnotations"),
        device_paths=names("devicePaths"),
        mount_paths=names("mountPaths"),
        node_labels=names("nodeLabels"),
        taint_keys=names("taintKeys"),
    )
