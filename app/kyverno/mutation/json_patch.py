"""JSON Patch (RFC 6902) with the conveniences that Kyverno's library adds.

Adding makes the maps and lists above that are missing, removing what is not there is no error, and negative numbers
count from the end of a list; ``-1`` appends, as ``-`` does. Source: evanphx/json-patch v5, ApplyOptions.
"""

import re
from copy import deepcopy
from typing import Any, Final, NamedTuple

from app.kyverno.expressions.kinds import equal
from app.kyverno.types import RuleError
from app.model.patch import unescape

OPERATIONS: Final = ("add", "remove", "replace", "move", "copy", "test")
_INDEX: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,5})", re.ASCII)
# What a list may be filled up to with nulls: a path in a policy is no reason to make a list of a million.
_MOST_ELEMENTS: Final = 10_000


class _Place(NamedTuple):
    """A container and the token in it."""

    container: Any
    token: str
    path: str


def patched(resource: dict[str, Any], operations: list[Any]) -> dict[str, Any]:
    """The resource after the operations, in their order; RuleError for one that cannot be done.

    What they reach is copied on the way there, and the rest shared: a foreach may have a patch for each of thousands.
    """
    document = dict(resource)
    for operation in operations:
        if type(operation) is not dict:
            raise RuleError("an operation of the JSON patch is no object")
        _apply(document, operation)
    return document


def _apply(document: dict[str, Any], operation: dict[str, Any]) -> None:
    name, path = operation.get("op"), operation.get("path")
    if name not in OPERATIONS:
        raise RuleError(f'the JSON patch has an operation "{name}"')
    match name:
        case "add":
            _add(_place(document, path, make=True), deepcopy(operation.get("value")))
        case "remove":
            _remove(document, path)
        case "replace":
            place = _place(document, path)
            _get(place)
            _set(place, deepcopy(operation.get("value")))
        case "test":
            place = _place(document, path)
            if not equal(_get(place), operation.get("value")):
                raise RuleError(f"the test of {path} in the JSON patch does not hold")
        case "move":
            value = _get(_place(document, operation.get("from")))
            _remove(document, operation.get("from"))
            _add(_place(document, path), value)
        case "copy":
            value = _get(_place(document, operation.get("from")))
            _add(_place(document, path), deepcopy(value))


def _place(document: dict[str, Any], path: Any, *, make: bool = False) -> _Place:
    if type(path) is not str or not path.startswith("/"):
        raise RuleError(f'the JSON patch has no path that starts with "/": {path}')
    *parents, last = map(unescape, path[1:].split("/"))
    container: Any = document
    for number, token in enumerate(parents):
        inner = _child(container, token)
        if inner is None and make:
            inner = _made(container, token, [*parents, last][number + 1], path)
        elif type(inner) in (dict, list):
            inner = inner.copy()
            _set(_Place(container, token, path), inner)
        if type(inner) not in (dict, list):
            raise RuleError(f"the JSON patch cannot reach {path}: there is nothing to go into at {token}")
        container = inner
    return _Place(container, last, path)


def _child(container: Any, token: str) -> Any:
    if type(container) is dict:
        return container.get(token)
    index = _index(container, token)
    return None if index is None else container[index]


def _index(container: list[Any], token: str) -> int | None:
    """The number of an element that is there."""
    if not _INDEX.fullmatch(token):
        return None
    index = int(token)
    return index % len(container) if container and -len(container) <= index < len(container) else None


def _made(container: Any, token: str, following: str, path: str) -> Any:
    """A new map or list at the token, as what follows in the path needs it."""
    inner: Any = {}
    if following == "-" or _INDEX.fullmatch(following):
        number = 0 if following == "-" else int(following)
        if number < -1 or number > _MOST_ELEMENTS:
            raise RuleError(f"the JSON patch cannot make a list up to {following} in {path}")
        inner = [None] * max(0, number)
    if type(container) is list and _INDEX.fullmatch(token):
        container += [None] * min(max(0, int(token) - len(container)), _MOST_ELEMENTS)
        index = _index(container, token)
        if index is not None and container[index] is None:
            container[index] = inner  # a null that is there makes way
            return inner
    _add(_Place(container, token, path), inner)
    return inner


def _add(place: _Place, value: Any) -> None:
    container, token, path = place
    if type(container) is dict:
        container[token] = value
    elif token == "-":  # noqa: S105 - a token of a path
        container.append(value)
    else:
        size = len(container)
        if not _INDEX.fullmatch(token) or not -size - 1 <= int(token) <= size:
            raise RuleError(f"the JSON patch cannot add {path}: the list has {size} elements")
        index = int(token)
        container.insert(index if index >= 0 else size + 1 + index, value)


def _get(place: _Place) -> Any:
    container, token, path = place
    if type(container) is dict:
        if token in container:
            return container[token]
    else:
        index = _index(container, token)
        if index is not None:
            return container[index]
    raise RuleError(f"the JSON patch does not apply: there is no {path}")


def _set(place: _Place, value: Any) -> None:
    if type(place.container) is dict:
        place.container[place.token] = value
    else:
        index = _index(place.container, place.token)
        assert index is not None, "it was found before"
        place.container[index] = value


def _remove(document: dict[str, Any], path: Any) -> None:
    try:
        container, token, _ = _place(document, path)
    except RuleError:
        if type(path) is not str or not path.startswith("/"):
            raise
        return
    if type(container) is dict:
        container.pop(token, None)
    else:
        index = _index(container, token)
        if index is not None:
            del container[index]
