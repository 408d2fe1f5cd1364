"""Anchors of a patch: what is left of it for one resource.

``(key)`` asks whether the map is the right one, ``<(key)`` whether the patch is for the resource at all, ``+(key)``
adds what is not there. A list element with anchors stands for each element of the resource that it fits, by name.
Source: kyverno pkg/engine/mutate/patch/strategicPreprocessing.go. Two of its faults are not repeated: there ``+(key)``
in a list is decided once, for the first element that fits, and of two elements with anchors the wrong one is dropped.
"""

from copy import deepcopy
from typing import Any, Final

from app.kyverno import anchors
from app.kyverno.gojson import marshal
from app.kyverno.patterns import compile_pattern

_CONDITIONS: Final = (anchors.CONDITION, anchors.GLOBAL)


class NotForThis(Exception):
    """A condition does not hold: the patch is not for this element, or (``everything``) not for this resource."""

    def __init__(self, *, everything: bool) -> None:
        super().__init__()
        self.everything = everything


class _Nothing:
    """Stands for a part of a patch of which nothing is left."""


_NOTHING: Final = _Nothing()


def resolved(patch: dict[str, Any], resource: dict[str, Any]) -> dict[str, Any]:
    """The patch without anchors, {} if it is not for the resource."""
    try:
        left = _map(patch, resource)
    except NotForThis:
        return {}
    return {} if left is _NOTHING else left


def has_anchors(value: Any, modifiers: tuple[str, ...] = (*_CONDITIONS, anchors.ADDITION)) -> bool:
    """Whether there is such an anchor anywhere in the value."""
    if type(value) is dict:
        return any(_modifier(key) in modifiers or has_anchors(item, modifiers) for key, item in value.items())
    return type(value) is list and any(has_anchors(item, modifiers) for item in value)


def _modifier(key: str) -> str | None:
    anchor = anchors.parse(key)
    return None if anchor is None else anchor.modifier


def _map(patch: dict[str, Any], resource: Any) -> Any:
    found = resource if type(resource) is dict else {}
    _require(patch, found, anchors.GLOBAL)
    _require(patch, found, anchors.CONDITION)
    left: dict[str, Any] = {}
    for key, value in patch.items():
        anchor = anchors.parse(key)
        name = anchor.key if anchor else key
        if anchor and anchor.modifier == anchors.ADDITION:
            rest = _NOTHING if name in found else _left(value, None)
        elif anchor and anchor.modifier in _CONDITIONS:
            rest = _left(value, found[name]) if _adds(value) else _NOTHING
        else:
            rest = _left(value, found.get(name))
        if rest is not _NOTHING:
            left[name] = rest
    return left if left or not patch else _NOTHING


def _left(value: Any, found: Any) -> Any:
    if type(value) is dict:
        return _map(value, found)
    if type(value) is list and value and type(value[0]) is dict:
        return _list(value, found)
    return value


def _list(patch: list[Any], found: Any) -> Any:
    elements = found if type(found) is list else []
    left = [deepcopy(each) for each in patch if not has_anchors(each)]
    for each in patch:
        if has_anchors(each):
            left += _each(each, elements, missing=found is None)
    return left or _NOTHING


def _each(patch: Any, elements: list[Any], *, missing: bool) -> list[dict[str, Any]]:
    """The patch for each element that it fits. One with a global anchor only asks; one has to hold."""
    asks = has_anchors(patch, (anchors.GLOBAL,))
    made: list[dict[str, Any]] = []
    refused, held = None, False
    for element in elements:
        try:
            rest = _left(patch, element)
        except NotForThis as error:
            refused = error if error.everything else refused
            continue
        held = True
        name = element.get("name") if type(element) is dict else None
        if not asks and name and type(rest) is dict:
            made.append({**rest, "name": name})
    if missing:
        try:
            _left(patch, None)
        except NotForThis as error:
            if error.everything:
                raise
    if asks and refused is not None and not held:
        raise refused
    return made


def _require(patch: dict[str, Any], found: dict[str, Any], modifier: str) -> None:
    for key, value in patch.items():
        anchor = anchors.parse(key)
        if anchor is None or anchor.modifier != modifier:
            continue
        if anchor.key not in found or not (_adds(value) or _holds(value, found[anchor.key])):
            raise NotForThis(everything=modifier == anchors.GLOBAL)


def _adds(value: Any) -> bool:
    """Whether the value under a condition is itself a patch, for a map that has to be there: ``+(key)`` is in it."""
    return type(value) is dict and any(_modifier(key) == anchors.ADDITION for key in value)


def _holds(pattern: Any, value: Any) -> bool:
    """Whether the value fits; scalars are compared as text."""
    if type(pattern) not in (dict, list):
        pattern = _text(pattern)
        value = value if type(value) in (dict, list) else _text(value)
    return compile_pattern(pattern).check(value) is None


def _text(value: Any) -> str:
    return value if type(value) is str else marshal(value)
