"""JSON Patch operations (RFC 6902) and JSON Pointers (RFC 6901).

Operations are emitted by whoever decides the change, never found by comparing two pods: the change is known, and
comparing costs more than the whole rest of a review.
"""

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

Operation = dict[str, Any]
"""``{"op": "add", "path": "/spec/nodeSelector", "value": {...}}``"""


def escape(token: str) -> str:
    """A key as one token of a JSON Pointer: ``nvidia.com/gpu`` becomes ``nvidia.com~1gpu``."""
    return token.replace("~", "~0").replace("/", "~1")


def unescape(token: str) -> str:
    """The key that a token of a JSON Pointer names."""
    return token.replace("~1", "/").replace("~0", "~")


def add(path: str, value: Any) -> Operation:
    """Add the value at the path; an existing member is replaced, ``/-`` appends to a list."""
    return {"op": "add", "path": path, "value": value}


def added(value: Any, pointer: str, operations: Iterable[Operation]) -> Any:
    """A copy of the value that stands at the pointer, with the members that the operations add to maps in it."""
    result = deepcopy(value)
    for operation in operations:
        *parents, last = map(unescape, operation["path"][len(pointer) + 1 :].split("/"))
        place = result
        for token in parents:
            place = place[int(token)] if type(place) is list else place[token]
        place[last] = deepcopy(operation["value"])
    return result
