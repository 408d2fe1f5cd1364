"""``validate`` of a rule: the rules of a GpuPolicy that ask the same."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from app.kyverno import anchors
from app.migrate.leaves import CONTAINERS, ITEM, Leaf, leaves
from app.migrate.reach import conditions, expression
from app.migrate.resources import is_gpu
from app.migrate.row import NotTaken, Piece, Reach
from app.model.words import quoted

_WHOLE: Final = re.compile(r"\s*(<=|<)?\s*([0-9]+)\s*")
_PRESENT: Final = ("?*", "*", ">0", ">=1", "!0")
_LIMIT: Final = re.compile(r"""resources\.(requests|limits)\.["']([^"']+)["']""")
_FALSE: Final = (False, "false", "!true")
_ANY: Final = ("?*", "*")
_NVIDIA: Final = "nvidia.com/gpu"
_VISIBLE: Final = "NVIDIA_VISIBLE_DEVICES"
_FORBIDS: Final = {
    "Equals": "is",
    "AnyIn": "is",
    "In": "is",
    "AllIn": "is",
    "NotEquals": "is not",
    "AnyNotIn": "is not",
}


def checks_of(validate: dict[str, Any], reach: Reach) -> tuple[list[Piece], Reach]:
    """What the rule asks, and its reach with the GPUs that its pattern names; raises NotTaken."""
    found = [name for name in ("pattern", "anyPattern", "deny", "foreach") if validate.get(name) is not None]
    if len(found) != 1:
        others = [name for name in validate if name not in ("message", "failureAction", "failureActionOverrides")]
        raise NotTaken(f"validate by {', '.join(others) or 'nothing'} has no counterpart")
    (name,) = found
    if name == "pattern":
        return _pattern(validate["pattern"], reach)
    if name == "anyPattern":
        return _any_pattern(validate["anyPattern"], reach)
    if name == "deny":
        return _deny(conditions(validate["deny"].get("conditions")), reach)
    pieces: list[Piece] = []
    for each in validate["foreach"]:
        if not any(kind in str(each.get("list")) for kind in CONTAINERS) or each.get("foreach"):
            raise NotTaken(f"it goes through {quoted(str(each.get('list')))}")
        if list(conditions(each.get("preconditions"))):
            raise NotTaken("its foreach has preconditions")
        if each.get("deny"):
            more, reach = _deny(conditions(each["deny"].get("conditions")), reach)
        elif isinstance(each.get("pattern"), dict):
            more, reach = _pattern({"spec": {"containers": [each["pattern"]]}}, reach)
        else:
            raise NotTaken("its foreach is neither pattern nor deny")
        pieces += more
    return pieces, reach


def _pattern(pattern: Any, reach: Reach) -> tuple[list[Piece], Reach]:
    listed = list(leaves(pattern))
    resources = set(reach.resources)
    gates = [leaf for leaf in listed if _is_gate(leaf)]
    resources |= {leaf.path[-1] for leaf in gates}
    reach = Reach(frozenset(resources), reach.match, reach.gated or bool(gates))
    asked = [leaf for leaf in listed if leaf not in gates and not (leaf.path[-1:] == ("name",) and leaf.value in _ANY)]
    return _gathered((_leaf(leaf, reach) for leaf in asked), reach, "its pattern")


def _gathered(found: Iterable[tuple[Piece, str]], reach: Reach, where: str) -> tuple[list[Piece], Reach]:
    """The rules, each once, and the reach with the GPU resources that came with them."""
    pieces: list[Piece] = []
    resources = set(reach.resources)
    for piece, resource in found:
        resources |= {resource} if resource else set()
        if piece not in pieces:
            pieces.append(piece)
    if not pieces:
        raise NotTaken(f"{where} asks for nothing that a GpuPolicy has a rule for")
    return pieces, Reach(frozenset(resources), reach.match, reach.gated)


def _is_gate(leaf: Leaf) -> bool:
    """``(nvidia.com/gpu): "?*"``: the pattern is for those that ask for it."""
    return (
        leaf.last in (anchors.CONDITION, anchors.GLOBAL)
        and leaf.in_container is not None
        and is_gpu(leaf.path[-1])
        and str(leaf.value) in _PRESENT
    )


def _leaf(leaf: Leaf, reach: Reach) -> tuple[Piece, str]:
    """The rule that a leaf stands for, and the GPU resource that it names."""
    if any(modifier in (anchors.CONDITION, anchors.GLOBAL) for modifier in leaf.modifiers[:-1]) and not reach.gated:
        raise NotTaken(f"it depends on {leaf}")
    inside = leaf.in_container
    if inside is not None and inside[:1] == ("resources",) and is_gpu(inside[-1]):
        return _amount(leaf, inside, reach), inside[-1]
    if inside == ("securityContext", "privileged") and leaf.value in _FALSE:
        _need_gpus(reach, "no-privileged is for GPU pods; this is for every pod")
        return Piece("rule", {"rule": "no-privileged"}), ""
    if leaf.path == ("spec", "runtimeClassName"):
        _need_gpus(reach, "runtime-class is for GPU pods; this is for every pod")
        return _runtime_class(leaf.value, optional=leaf.last == anchors.EQUALITY), ""
    if leaf.path[:2] == ("spec", "nodeSelector") and len(leaf.path) == 3 and _is_plain(leaf.value):
        _need_gpus(reach, "an injection is for GPU pods; this is for every pod")
        return Piece("inject", {"nodeSelector": {leaf.path[-1]: str(leaf.value)}}), ""
    if inside == ("env", ITEM, "name") and str(leaf.value).lstrip("!") == _VISIBLE and str(leaf.value).startswith("!"):
        return Piece("rule", {"rule": "no-gpu-bypass"}), _NVIDIA
    if leaf.path == ("spec", "volumes", ITEM, "hostPath", "path") and str(leaf.value).startswith("!/dev/nvidia"):
        return Piece("rule", {"rule": "no-gpu-bypass"}), _NVIDIA
    raise NotTaken(f"it asks for {leaf} {quoted(str(leaf.value))}, which no rule of a GpuPolicy does")


def _amount(leaf: Leaf, inside: tuple[str, ...], reach: Reach) -> Piece:
    """What is asked of an amount of GPUs: that it is there, or that it is not too much."""
    text = str(leaf.value)
    if text in _PRESENT or (text.startswith("$(") and "requests" in text + "".join(inside)):
        _need_gpus(reach, f"it wants a GPU in every container of every pod ({leaf})")
        return Piece("rule", {"rule": "limits-equal-requests"})
    most = _WHOLE.fullmatch(text)
    if most and (most[1] or most[2] == "0"):
        number = int(most[2]) - (most[1] == "<")
        return Piece("rule", {"rule": "max-gpus", "with": {"perContainer": {inside[-1]: number}}})
    raise NotTaken(f"it asks for {leaf} {quoted(text)}, which no rule of a GpuPolicy does")


def _need_gpus(reach: Reach, otherwise: str) -> None:
    if not reach.gated:
        raise NotTaken(otherwise)


def _runtime_class(value: Any, *, optional: bool = False) -> Piece:
    names = [name.strip() for name in str(value).split("|")]
    if not all(map(_is_plain, names)):
        raise NotTaken(f"it takes the runtime classes {quoted(str(value))}; a GpuPolicy lists them by name")
    if optional:
        raise NotTaken("it lets GPU pods without a runtime class through; runtime-class wants one")
    return _classes(names)


def _classes(names: list[str]) -> Piece:
    parameters: dict[str, Any] = {"default": names[0]}
    if len(names) > 1:
        parameters["allowed"] = names
    return Piece("rule", {"rule": "runtime-class", "with": parameters})


def _is_plain(value: Any) -> bool:
    text = str(value)
    return bool(text) and not any(character in text for character in "*?|&<>!{}$ ")


def _any_pattern(patterns: Any, reach: Reach) -> tuple[list[Piece], Reach]:
    """Patterns that differ in the runtime class only: a list of classes."""
    names: list[str] = []
    for pattern in patterns:
        pieces, reach = _pattern(pattern, reach)
        if [piece.id for piece in pieces] != ["runtime-class"]:
            raise NotTaken("any of several patterns will do for it")
        parameters = pieces[0].entry["with"]
        names += parameters.get("allowed", [parameters["default"]])
    return [_classes(names)], reach


def _deny(listed: Iterator[dict[str, Any]], reach: Reach) -> tuple[list[Piece], Reach]:
    return _gathered((_denied(condition, reach) for condition in listed), reach, "its deny")


def _denied(condition: dict[str, Any], reach: Reach) -> tuple[Piece, str]:
    key, value = expression(condition.get("key")), condition.get("value")
    operator = str(condition.get("operator"))
    values = value if isinstance(value, list) else [value]
    amounts = [name for _, name in _LIMIT.findall(f"{key} {expression(value)}") if is_gpu(name)]
    if amounts:
        return _denied_amount(condition, key, operator, amounts[0], reach), amounts[0]
    if "securityContext.privileged" in key and _FORBIDS.get(operator) == "is" and values in ([True], ["true"]):
        _need_gpus(reach, "no-privileged is for GPU pods; this is for every pod")
        return Piece("rule", {"rule": "no-privileged"}), ""
    if "runtimeClassName" in key and _FORBIDS.get(operator) == "is not" and all(map(_is_plain, values)):
        _need_gpus(reach, "runtime-class is for GPU pods; this is for every pod")
        return _classes([str(each) for each in values]), ""
    if _VISIBLE in f"{key} {value}":
        return Piece("rule", {"rule": "no-gpu-bypass"}), _NVIDIA
    raise NotTaken(f"it denies by {quoted(key)}, which no rule of a GpuPolicy does")


def _denied_amount(condition: dict[str, Any], key: str, operator: str, resource: str, reach: Reach) -> Piece:
    value = condition.get("value")
    if operator in ("NotEquals", "AnyNotIn") and "requests" in f"{key}{value}" and "limits" in f"{key}{value}":
        return Piece("rule", {"rule": "limits-equal-requests"})
    if operator == "Equals" and value == "" and "limits" in key:
        _need_gpus(reach, f"it wants {resource} of every pod")
        return Piece("rule", {"rule": "limits-equal-requests"})
    most = _WHOLE.fullmatch(str(value))
    if most and not most[1] and operator in ("GreaterThan", "GreaterThanOrEquals"):
        number = int(most[2]) - (operator == "GreaterThanOrEquals")
        where = "perPod" if "sum(" in key else "perContainer"
        return Piece("rule", {"rule": "max-gpus", "with": {where: {resource: number}}})
    raise NotTaken(f"it denies by {quoted(key)} {operator} {quoted(str(value))}, which no rule of a GpuPolicy does")
