"""An object without what a patch added to it, when others have changed it since."""

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from app.model.patch import Operation, unescape


def without(obj: dict[str, Any], patch: Iterable[Operation], before: dict[str, Any]) -> dict[str, Any]:
    """A copy of the object without what the patch added to ``before``.

    What is not there any more as it was added, stays as it is. Containers are found by name, as others may have put
    theirs in front.
    """
    result = deepcopy(obj)
    for operation in reversed(list(patch)):
        *parents, last = map(unescape, operation["path"].split("/")[1:])
        place = _walk(result, before, parents)
        if operation["op"] != "add":
            continue  # what was replaced or removed is not known any more
        if last == "-":
            if type(place) is list:
                _remove(place, operation["value"])
        elif type(place) is dict and last in place and _take(place[last], operation["value"]):
            del place[last]
    return result


def _walk(value: Any, before: Any, tokens: list[str]) -> Any:
    """The value that stands where the tokens led to before; None if there is none."""
    for token in tokens:
        if type(value) is list:
            index = int(token) if token.isdecimal() else len(value)
            entry = before[index] if type(before) is list and index < len(before) else None
            value, before = _same(value, entry, index), entry
        else:
            value = value.get(token) if type(value) is dict else None
            before = before.get(token) if type(before) is dict else None
    return value


def _same(entries: list[Any], entry: Any, index: int) -> Any:
    """The entry of the same name, else that at the index."""
    name = entry.get("name") if type(entry) is dict else None
    if name is not None:
        return next((each for each in entries if type(each) is dict and each.get("name") == name), None)
    return entries[index] if index < len(entries) else None


def _take(value: Any, added: Any) -> bool:
    """Take what was added out of the value; True if nothing of it is left."""
    if type(value) is dict and type(added) is dict:
        for key, entry in added.items():
            if value.get(key) == entry:
                del value[key]
        return not value
    if type(value) is list and type(added) is list:
        for entry in added:
            _remove(value, entry)
        return not value
    return bool(value == added)


def _remove(entries: list[Any], added: Any) -> None:
    for index in range(len(entries) - 1, -1, -1):
        if entries[index] == added:
            del entries[index]
            return
