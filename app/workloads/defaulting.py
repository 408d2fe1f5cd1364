"""The defaults that the API server gives a pod before anybody judges it.

Source: k8s.io/kubernetes pkg/apis/core/v1/defaults.go SetDefaults_Pod (v1.37.2): what a container or init container
limits and does not request, it requests. Ephemeral containers get none. The other defaults touch nothing that a rule
reads.
"""

from typing import Any, Final

_DEFAULTED: Final = ("initContainers", "containers")


def defaulted(spec: dict[str, Any]) -> dict[str, Any]:
    """The pod spec with its defaults. It shares with ``spec`` all that they leave alone, and ``spec`` stays as it is.

    No list grows, and no limit changes, so that a pointer or a patch operation made for one fits the other.
    """
    changed = {}
    for field in _DEFAULTED:
        listed = spec.get(field)
        if type(listed) is list:
            containers = [_container(each) for each in listed]
            if any(new is not old for new, old in zip(containers, listed, strict=True)):
                changed[field] = containers
    return {**spec, **changed} if changed else spec


def _container(container: Any) -> Any:
    # What has another type than it should is left as it is: whoever reads the pod says so, at its place.
    resources = container.get("resources") if type(container) is dict else None
    if type(resources) is not dict:
        return container
    limits, requests = resources.get("limits"), resources.get("requests")
    if type(limits) is not dict or not (requests is None or type(requests) is dict):
        return container
    requests = requests or {}
    if limits.keys() <= requests.keys():
        return container
    return {**container, "resources": {**resources, "requests": {**limits, **requests}}}
