"""What all objects of gpugate carry."""

from typing import Any


def metadata(name: str, component: str, annotations: dict[str, str] | None = None) -> dict[str, Any]:
    """The ``metadata`` of a cluster-scoped object, with the recommended labels."""
    labels = {"app.kubernetes.io/name": "gpugate", "app.kubernetes.io/component": component}
    found: dict[str, Any] = {"name": name, "labels": labels}
    return {**found, "annotations": annotations} if annotations else found
