"""The difference between two values, as JSON Patch operations.

For changes that nobody knows but by their result: a strategic merge patch. Ours are emitted by whoever decides them.
"""

from collections.abc import Iterator
from typing import Any

from app.model.patch import Operation, add, escape


def difference(before: Any, after: Any, pointer: str = "") -> Iterator[Operation]:
    """The operations that make ``after`` of ``before``: ``add``, ``replace`` and ``remove``.

    Maps are compared by key. Of lists, elements are compared one by one where there are as many; what was appended is
    added, and any other change replaces the list.
    """
    if type(before) is dict and type(after) is dict:
        yield from _maps(before, after, pointer)
    elif type(before) is list and type(after) is list and len(before) <= len(after):
        yield from _lists(before, after, pointer)
    elif type(before) is not type(after) or before != after:
        yield {"op": "replace", "path": pointer, "value": after}


def _maps(before: dict[str, Any], after: dict[str, Any], pointer: str) -> Iterator[Operation]:
    for key in before:
        if key not in after:
            yield {"op": "remove", "path": f"{pointer}/{escape(key)}"}
    for key, value in after.items():
        at = f"{pointer}/{escape(key)}"
        if key in before:
            yield from difference(before[key], value, at)
        else:
            yield add(at, value)


def _lists(before: list[Any], after: list[Any], pointer: str) -> Iterator[Operation]:
    known = len(before)
    if known < len(after) and before != after[:known]:
        yield {"op": "replace", "path": pointer, "value": after}
        return
    for index, (old, new) in enumerate(zip(before, after[:known], strict=True)):
        yield from difference(old, new, f"{pointer}/{index}")
    for value in after[known:]:
        yield add(f"{pointer}/-", value)
