"""The part of the API server that reads the same fields: its RuntimeClass admission plugin.

Source: k8s.io/kubernetes plugin/pkg/admission/runtimeclass/admission.go and pkg/util/tolerations (v1.37.2).
"""

import copy
from typing import Any

from app.model.context import ClusterFacts

Object = dict[str, Any]


class Refused(Exception):
    """The API server refuses the pod."""


def runtime_class_plugin(obj: Object, facts: ClusterFacts) -> Object:
    """The pod with the scheduling of its class; raises Refused. Without facts every class is a plain one."""
    name, classes = obj["spec"].get("runtimeClassName"), facts.runtime_classes
    if name is None:
        return obj
    if name == "":
        raise Refused("resource name may not be empty")
    if classes is None:
        return obj
    if name not in classes:
        raise Refused(f"RuntimeClass {name!r} not found")
    result = copy.deepcopy(obj)
    spec, fact = result["spec"], classes[name]
    selector = spec.get("nodeSelector") or {}
    for key, value in fact.node_selector.items():
        if selector.get(key, value) != value:
            raise Refused(f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}")
    if fact.node_selector:
        spec["nodeSelector"] = {**selector, **fact.node_selector}
    if fact.tolerations:
        spec["tolerations"] = merged([*(spec.get("tolerations") or []), *fact.tolerations])
    return result


def merged(tolerations: list[Object]) -> list[Object]:
    """Without those that another one covers."""
    kept: list[Object] = []
    for index, one in enumerate(tolerations):
        covered = any(_covers(other, one) for other in kept)
        if not covered and not any(other != one and _covers(other, one) for other in tolerations[index + 1 :]):
            kept.append(one)
    return kept


def _covers(wide: Object, narrow: Object) -> bool:
    def text(toleration: Object, key: str) -> str:
        return toleration.get(key) or ""

    if wide == narrow:
        return True
    everything = not text(wide, "key") and text(wide, "operator") == "Exists"
    if text(wide, "key") != text(narrow, "key") and not everything:
        return False
    if text(wide, "effect") not in ("", text(narrow, "effect")):
        return False
    if text(wide, "operator") in ("", "Equal"):
        return text(narrow, "operator") == "Equal" and text(narrow, "value") == text(wide, "value")
    return text(wide, "operator") == "Exists"
