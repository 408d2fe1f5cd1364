"""Fields of an object on the way to its pods. What has a type that the API server refuses is an error at its place."""

from typing import Any

from app.model.patch import escape
from app.model.pod import MalformedPod


def a_map(value: Any, pointer: str) -> dict[str, Any]:
    """The value at the pointer, which is a map, or raises MalformedPod."""
    if type(value) is not dict:
        raise MalformedPod(pointer, value, "a map")
    return value


def map_in(parent: dict[str, Any], key: str, pointer: str) -> dict[str, Any]:
    """The map under the key, empty if there is none; ``pointer`` is the parent's. Raises MalformedPod."""
    value = parent.get(key)
    return {} if value is None else a_map(value, f"{pointer}/{escape(key)}")


def list_in(parent: dict[str, Any], key: str, pointer: str) -> list[Any]:
    """The list under the key, empty if there is none; ``pointer`` is the parent's. Raises MalformedPod."""
    value = parent.get(key)
    if value is None:
        return []
    if type(value) is not list:
        raise MalformedPod(f"{pointer}/{escape(key)}", value, "a list")
    return value


def maps_in(parent: dict[str, Any], key: str, pointer: str) -> list[tuple[str, dict[str, Any]]]:
    """The maps in the list under the key, each with its pointer; ``pointer`` is the parent's. Raises MalformedPod."""
    at = f"{pointer}/{escape(key)}"
    entries = enumerate(list_in(parent, key, pointer))
    return [(f"{at}/{index}", a_map(entry, f"{at}/{index}")) for index, entry in entries]


def text_in(parent: dict[str, Any], key: str, pointer: str) -> str:
    """The text under the key, "" if there is none; ``pointer`` is the parent's. Raises MalformedPod."""
    value = parent.get(key)
    if value is None:
        return ""
    if type(value) is not str:
        raise MalformedPod(f"{pointer}/{escape(key)}", value, "text")
    return value
