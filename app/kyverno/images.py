"""The variable ``images``: the images of a resource by kind and name of container, taken apart.

Source: kyverno pkg/utils/api/image.go.
"""

from typing import Any, Final

from app.kyverno.image_reference import InvalidImage, image_info

LISTS: Final = ("initContainers", "containers", "ephemeralContainers")

# Where the pod specs of the kinds are that Kyverno looks into.
_SPECS: Final[dict[str, tuple[str, ...]]] = {
    "Pod": ("spec",),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
    **dict.fromkeys(
        ("Deployment", "DaemonSet", "StatefulSet", "Job", "ReplicaSet", "ReplicationController"),
        ("spec", "template", "spec"),
    ),
}


def images(resource: dict[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """``{"containers": {"web": {"registry": "docker.io", "name": "nginx", ...}}}``; lists without images are left out.

    An image that cannot be read is left out too.
    """
    spec: Any = resource
    for key in _SPECS.get(str(resource.get("kind")), ()):
        spec = spec.get(key) if type(spec) is dict else None
    found: dict[str, dict[str, dict[str, Any]]] = {}
    if type(spec) is not dict or spec is resource:
        return found
    for kind in LISTS:
        containers = spec.get(kind)
        for index, container in enumerate(containers if type(containers) is list else ()):
            image = container.get("image") if type(container) is dict else None
            if type(image) is not str:
                continue
            try:
                parts = image_info(image)
            except InvalidImage:
                continue
            parts["jsonPointer"] = f"/{'/'.join(_SPECS[resource['kind']])}/{kind}/{index}/image"
            found.setdefault(kind, {})[str(container.get("name", ""))] = parts
    return found
