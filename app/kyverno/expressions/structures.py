"""Functions of maps and lists that Kyverno adds."""

from typing import Any

from app.kyverno.expressions.errors import EvaluationError
from app.kyverno.expressions.functions import declared
from app.kyverno.expressions.kinds import equal, is_number
from app.kyverno.expressions.texts import text_of


@declared("object|array", "string|number")
def lookup(where: Any, key: Any) -> Any:
    """The value at a key of a map or a number of a list, from 0; null where there is none."""
    if isinstance(where, dict):
        if not isinstance(key, str):
            raise EvaluationError("the key of a map is text")
        return where.get(key)
    if not is_number(key) or int(key) != key:
        raise EvaluationError("the place in a list is a whole number")
    return where[int(key)] if 0 <= key < len(where) else None


@declared("object|array", "string", "string")
def items(where: Any, key: str, value: str) -> list[dict[str, Any]]:
    """A map for each entry, of its key (or number) and its value under the two names; keys are sorted."""
    pairs = sorted(where.items()) if isinstance(where, dict) else enumerate(where)
    return [{key: name, value: found} for name, found in pairs]


@declared("array", "array")
def object_from_lists(keys: list[Any], values: list[Any]) -> dict[str, Any]:
    """A map of the keys to the values; null for keys without one."""
    return {text_of(key): values[at] if at < len(values) else None for at, key in enumerate(keys)}


@declared("object", "object")
def label_match(wanted: dict[str, Any], labels: dict[str, Any]) -> bool:
    """Whether the labels hold all that are wanted, with the same values."""
    return all(key in labels and equal(labels[key], value) for key, value in wanted.items())
