"""What all objects of gpugate carry."""

from typing import Any, Final

NAME_LABEL: Final = "app.kubernetes.io/name"
COMPONENT_LABEL: Final = "app.kubernetes.io/component"


def labels(component: str) -> dict[str, str]:
    """The recommended labels. They do not change with the version: Deployments select by them."""
    return {NAME_LABEL: "gpugate", COMPONENT_LABEL: component}


def metadata(
    name: str, component: str, annotations: dict[str, str] | None = None, *, namespace: str | None = None
) -> dict[str, Any]:
    """The ``metadata`` of an object, cluster-scoped unless a namespace is given."""
    found: dict[str, Any] = {"name": name}
    if namespace is not None:
        found["namespace"] = namespace
    found["labels"] = labels(component)
    return {**found, "annotations": annotations} if annotations else found
