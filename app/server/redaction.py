"""What is left of a review that is written down: what rules read, and little else.

Environment values go, except those of the variables that hand out GPUs; so do annotation values, commands and
arguments, probes and hooks: people put tokens there, and no rule reads them. Names, keys and types stay, so that a
pod is judged, and a malformed one refused, as before.
"""

from collections.abc import Callable
from typing import Any, Final

from app.policy.presets import NAMES, preset

REDACTED: Final = "(redacted)"

_REQUEST: Final = ("uid", "kind", "resource", "subResource", "operation", "namespace", "name", "dryRun")
_CONTAINER_LISTS: Final = ("initContainers", "containers", "ephemeralContainers")
_TEXT_LISTS: Final = ("command", "args")
_DROPPED: Final = ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle")
# Istio lists in it which containers it added, and messages say so (rules/no_privileged.py).
_ANNOTATIONS_KEPT: Final = ("sidecar.istio.io/status",)


class Redaction:
    """Redacts reviews of pods. The variables of every preset are kept, as a new policy may count other GPUs."""

    def __init__(self) -> None:
        vendors = [preset(name) for name in NAMES]
        self._kept = frozenset(name for vendor in vendors for name in (*vendor.environment, *vendor.hide))

    def request(self, request: dict[str, Any]) -> dict[str, Any]:
        """The ``request`` of an AdmissionReview, redacted. What was given stays as it is."""
        result: dict[str, Any] = {key: request[key] for key in _REQUEST if key in request}
        user = request.get("userInfo")
        if type(user) is dict:
            result["userInfo"] = {key: user[key] for key in ("username", "groups") if key in user}
        for key in ("object", "oldObject"):
            if type(request.get(key)) is dict:
                result[key] = self._pod(request[key])
        return result

    def _pod(self, pod: dict[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = {key: pod[key] for key in ("apiVersion", "kind") if key in pod}
        if "metadata" in pod:
            result["metadata"] = _metadata(pod["metadata"])
        if "spec" in pod:
            spec = pod["spec"]
            result["spec"] = self._spec(spec) if type(spec) is dict else _blank(spec)
        return result

    def _spec(self, spec: dict[str, Any]) -> dict[str, Any]:
        result = dict(spec)
        for key in _CONTAINER_LISTS:
            containers = spec.get(key)
            if containers:
                result[key] = _each(containers, self._container)
        return result

    def _container(self, container: dict[str, Any]) -> dict[str, Any]:
        result = {key: value for key, value in container.items() if key not in _DROPPED}
        if result.get("env"):
            result["env"] = _each(result["env"], self._variable)
        for key in _TEXT_LISTS:
            if key in result:
                result[key] = _each(result[key], _nothing)
        return result

    def _variable(self, variable: dict[str, Any]) -> dict[str, Any]:
        name = variable.get("name")
        if not variable.get("value") or (type(name) is str and name in self._kept):
            return variable
        return {**variable, "value": _blank(variable["value"])}


def _metadata(metadata: Any) -> Any:
    if type(metadata) is not dict:
        return _blank(metadata)
    # managedFields names every field once more, and is longer than the pod.
    result = {key: value for key, value in metadata.items() if key != "managedFields"}
    annotations = result.get("annotations")
    if type(annotations) is dict:
        result["annotations"] = {
            key: value if key in _ANNOTATIONS_KEPT else _blank(value) for key, value in annotations.items()
        }
    elif annotations is not None:
        result["annotations"] = _blank(annotations)
    return result


def _each(values: Any, redact: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """The list with its maps redacted; what is no map, or no list, is blanked."""
    if type(values) is not list:
        return _blank(values)
    return [redact(value) if type(value) is dict else _blank(value) for value in values]


def _blank(value: Any) -> Any:
    """Something of the same type that says nothing."""
    if type(value) is str:
        return REDACTED if value else value
    if type(value) in (dict, list, int, float):
        return type(value)()
    return value


def _nothing(_value: dict[str, Any]) -> dict[str, Any]:
    return {}
