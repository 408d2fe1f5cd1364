"""``match``, ``exclude`` and ``preconditions`` of a rule: which pods it is for, in a GpuPolicy's words."""

import re
from collections.abc import Iterator
from typing import Any, Final

from app.migrate.resources import is_gpu
from app.migrate.row import NotTaken, Reach
from app.model.words import quoted

_RESOURCE: Final = re.compile(r"""resources\.(?:requests|limits)\.["']([^"']+)["']""")
_LABEL: Final = re.compile(r"""request\.object\.metadata\.labels\.(?:["']([^"']+)["']|(\w+))""")
_VARIABLE: Final = re.compile(r"\s*\{\{-?\s*(.*?)\s*\}\}\s*", re.DOTALL)
_NAMESPACE: Final = ("request.namespace", "request.object.metadata.namespace")
_PODS: Final = ("Pod", "v1/Pod", "*/Pod")
_CHANGING: Final = frozenset(("CREATE", "UPDATE"))
_WITHOUT_COUNTERPART: Final = ("name", "names", "annotations", "namespaceSelector")
_WHO: Final = ("subjects", "roles", "clusterRoles")


def reach_of(rule: dict[str, Any]) -> Reach:
    """The pods of a rule; raises NotTaken."""
    match = _match(rule.get("match"))
    excluded = list(_excluded(rule.get("exclude")))
    if excluded:
        match["notNamespaces"] = excluded
    resources: set[str] = set()
    for condition in conditions(rule.get("preconditions")):
        resources |= _condition(condition, match)
    return Reach(frozenset(resources), match, bool(resources))


def conditions(value: Any) -> Iterator[dict[str, Any]]:
    """The conditions that must all hold; of an ``any`` those that ask for GPUs in one way or another."""
    if isinstance(value, list):
        yield from value
    elif isinstance(value, dict):
        yield from value.get("all") or []
        either = value.get("any") or []
        if len(either) > 1 and not all(_resources(each) or _ignorable(each) for each in either):
            raise NotTaken("any of several preconditions will do for it")
        yield from either


def expression(value: Any) -> str:
    """The expression of a text that is a variable and nothing else; else the text."""
    found = _VARIABLE.fullmatch(value) if isinstance(value, str) else None
    return found[1] if found else str(value)


def _match(value: Any) -> dict[str, Any]:
    filters = _filters(value)
    if len(filters) != 1:
        raise NotTaken("it matches by several filters")
    found = filters[0]
    for key in _WHO:
        if found.get(key):
            raise NotTaken(f"it matches by {key}: who makes the request plays no part in a GpuPolicy")
    resources = found.get("resources") or {}
    kinds = resources.get("kinds") or []
    if not any(kind in _PODS for kind in kinds):
        raise NotTaken(f"it is for {', '.join(map(str, kinds)) or 'no kind'}; a GpuPolicy judges pods")
    if len(kinds) > 1:
        raise NotTaken(f"it is for {', '.join(map(str, kinds))}, not for pods alone")
    for key in _WITHOUT_COUNTERPART:
        if resources.get(key):
            raise NotTaken(f"it matches by {key}, which a GpuPolicy has no condition for")
    if resources.get("operations") and not set(resources["operations"]) <= _CHANGING:
        raise NotTaken(f"it is for {', '.join(resources['operations'])}")
    match: dict[str, Any] = {}
    if resources.get("namespaces"):
        match["namespaces"] = list(resources["namespaces"])
    selector = resources.get("selector") or {}
    if selector.get("matchExpressions"):
        raise NotTaken("its selector has matchExpressions, which a GpuPolicy has no condition for")
    if selector.get("matchLabels"):
        match["podLabels"] = dict(selector["matchLabels"])
    return match


def _excluded(value: Any) -> Iterator[str]:
    for found in _filters(value) if value else []:
        resources = found.get("resources") or {}
        others = [key for key in (*found, *resources) if key not in ("resources", "kinds", "namespaces")]
        if others or not resources.get("namespaces"):
            raise NotTaken(f"it excludes by {', '.join(others) or 'kind'}; a GpuPolicy excludes namespaces")
        yield from resources["namespaces"]


def _filters(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, dict):
        return []
    if "any" in value or "all" in value:
        return [each for key in ("any", "all") for each in value.get(key) or [] if isinstance(each, dict)]
    return [value]


def _condition(condition: dict[str, Any], match: dict[str, Any]) -> set[str]:
    """The GPU resources that a condition asks for; what it says of labels and namespaces goes into the match."""
    resources = _resources(condition)
    if resources:
        if _asks(condition):
            return resources
        raise NotTaken(f"its precondition on {', '.join(sorted(resources))} is none that asks for GPUs")
    if _ignorable(condition):
        return set()
    key, operator, value = expression(condition.get("key")), condition.get("operator"), condition.get("value")
    label = _LABEL.match(key)
    if label and operator in ("Equals", "AnyIn", "In") and isinstance(value, str) and value and "{{" not in value:
        match.setdefault("podLabels", {})[label[1] or label[2]] = value
        return set()
    names = value if isinstance(value, list) else [value]
    if key.split(" ")[0] in _NAMESPACE and all(isinstance(each, str) and "{{" not in each for each in names):
        if operator in ("Equals", "AnyIn", "In"):
            match.setdefault("namespaces", []).extend(names)
            return set()
        if operator in ("NotEquals", "AnyNotIn", "NotIn"):
            match.setdefault("notNamespaces", []).extend(names)
            return set()
    raise NotTaken(f"its precondition {quoted(str(condition.get('key')))} has no counterpart")


def _resources(condition: dict[str, Any]) -> set[str]:
    return {name for name in _RESOURCE.findall(str(condition.get("key"))) if is_gpu(name)}


def _asks(condition: dict[str, Any]) -> bool:
    operator, value = condition.get("operator"), condition.get("value")
    match operator:
        case "NotEquals":
            return value in ("", "0", 0, [], None) or value == "`[]`"
        case "GreaterThan":
            return value in ("0", 0)
        case "GreaterThanOrEquals":
            return value in ("1", 1)
        case "Equals" | "AnyIn" | "In":
            return value == "?*"
        case _:
            return False


def _ignorable(condition: dict[str, Any]) -> bool:
    """Conditions that always hold for a pod that is created, or that only keep a change from being made twice."""
    key, value = str(condition.get("key")), str(condition.get("value"))
    if "request.operation" in key:
        return "CREATE" in value or condition.get("operator") in ("NotEquals", "AnyNotIn", "NotIn")
    return "tolerations" in key + value and condition.get("operator") in ("AnyNotIn", "AllNotIn", "NotIn", "NotEquals")
