"""Strategic merge: a patch laid over a resource. Source: kustomize kyaml, yaml/merge2 and yaml/walk.

A null in the patch removes the field. Lists that merge by key put the elements of the patch first, in its order, and
then those that only the resource has.
"""

from copy import deepcopy
from typing import Any, Final

from app.documents.document import describe
from app.kyverno.mutation.schema import Schema
from app.kyverno.types import RuleError

DIRECTIVE: Final = "$patch"
DIRECTIVES: Final = ("merge", "replace", "delete")


class _Removed:
    """Stands for what is no longer there."""


_REMOVED: Final = _Removed()


def merged(resource: dict[str, Any], patch: dict[str, Any], schema: Schema | None) -> dict[str, Any]:
    """The resource with the patch laid over it; shares what is as it was. RuleError where they do not fit."""
    found = _map(resource, patch, schema, "")
    return found if type(found) is dict else {}


def _value(found: Any, patch: Any, schema: Schema | None, at: str) -> Any:
    if patch is None:
        return _REMOVED
    if type(patch) is dict:
        return _map(found, patch, schema, at)
    if type(patch) is list:
        return _list(found, patch, schema, at)
    _fitting(found, patch, at)
    return patch


def _map(found: Any, patch: dict[str, Any], schema: Schema | None, at: str) -> Any:
    directive = patch.get(DIRECTIVE)
    if directive == "delete":
        return _REMOVED
    if found is None or directive == "replace":
        found = {}
    _fitting(found, patch, at)
    result = dict(found)
    for key, value in patch.items():
        if key == DIRECTIVE:
            continue
        merged_value = _value(found.get(key), value, schema.at(key) if schema else None, f"{at}.{key}" if at else key)
        if merged_value is _REMOVED:
            result.pop(key, None)
        else:
            result[key] = merged_value
    return result


def _list(found: Any, patch: list[Any], schema: Schema | None, at: str) -> Any:
    _fitting(found, patch, at)
    if not schema or not schema.keys:
        return deepcopy(patch)
    directive, patch = _directive(patch)
    if directive == "delete":
        return _REMOVED
    if directive == "replace":
        found = []
    if schema.keys == ("",):
        united: list[Any] = []
        for each in (*patch, *(found or [])):
            if each not in united:
                united.append(each)
        return united
    elements = list(found or [])
    first: list[Any] = []
    for element in patch:
        place = _place(elements, element, schema.keys)
        before = elements.pop(place) if place is not None else None
        result = _value(before, element, schema, f"{at}[{_name(element, schema.keys)}]")
        if result is not _REMOVED and result != {}:
            again = _place(first, element, schema.keys)
            if again is None:
                first.append(result)
            else:
                first[again] = _value(first[again], element, schema, at)
    return first + elements


def _directive(patch: list[Any]) -> tuple[str | None, list[Any]]:
    """The directive for the list as a whole, which is an element of nothing else, and the other elements."""
    said = [each[DIRECTIVE] for each in patch if type(each) is dict and list(each) == [DIRECTIVE]]
    rest = [each for each in patch if not (type(each) is dict and list(each) == [DIRECTIVE])]
    return (said[0] if said else None), rest


def _place(elements: list[Any], wanted: Any, keys: tuple[str, ...]) -> int | None:
    """Where the element is that has the keys of the wanted one. Of several keys those count that the wanted one has."""
    if type(wanted) is not dict:
        return None
    values = {key: wanted[key] for key in keys if wanted.get(key) is not None}
    if not values:
        return None
    for index, element in enumerate(elements):
        if type(element) is dict and all(element.get(key) == value for key, value in values.items()):
            return index
    return None


def _name(element: Any, keys: tuple[str, ...]) -> str:
    return str(element.get(keys[0], "")) if type(element) is dict else ""


def _fitting(found: Any, patch: Any, at: str) -> None:
    if found is None:
        return
    kinds = [dict if type(each) is dict else list if type(each) is list else str for each in (found, patch)]
    if kinds[0] is not kinds[1]:
        there = at or "the top"
        raise RuleError(f"the patch has {describe(patch)} at {there}, where the resource has {describe(found)}")
