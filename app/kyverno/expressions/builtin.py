"""The functions of JMESPath itself. Source: jmespath.org/specification.html, and go-jmespath where it says more.

``sum`` is Kyverno's and stands with the other sums.
"""

import math
import re
from collections.abc import Callable
from typing import Any, Final

from app.kyverno.expressions.errors import EvaluationError
from app.kyverno.expressions.functions import declared
from app.kyverno.expressions.kinds import equal, is_number, kind_of
from app.kyverno.gojson import marshal, whole

_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_MAX_NUMBER: Final = 400
Key = Callable[[Any], Any]


@declared("number")
def abs_(value: float) -> float:
    """The value without its sign."""
    return abs(value)


@declared("array of numbers")
def avg(values: list[float]) -> float | None:
    """The mean; null of nothing."""
    return whole(math.fsum(values) / len(values)) if values else None


@declared("number")
def ceil(value: float) -> int:
    """The next whole number up."""
    return math.ceil(value)


@declared("number")
def floor(value: float) -> int:
    """The next whole number down."""
    return math.floor(value)


@declared("array|string", "any")
def contains(where: Any, what: Any) -> bool:
    """Whether the text holds the text, or the list the value."""
    if isinstance(where, str):
        return isinstance(what, str) and what in where
    return any(equal(each, what) for each in where)


@declared("string", "string")
def ends_with(text: str, suffix: str) -> bool:
    """Whether the text ends so."""
    return text.endswith(suffix)


@declared("string", "string")
def starts_with(text: str, prefix: str) -> bool:
    """Whether the text starts so."""
    return text.startswith(prefix)


@declared("string", "array of strings")
def join(glue: str, texts: list[str]) -> str:
    """The texts with the glue between them."""
    return glue.join(texts)


@declared("object")
def keys(value: dict[str, Any]) -> list[str]:
    """The keys of a map, in its order."""
    return list(value)


@declared("object")
def values(value: dict[str, Any]) -> list[Any]:
    """The values of a map, in its order."""
    return list(value.values())


@declared("string|array|object")
def length(value: Any) -> int:
    """How many characters, items or keys."""
    return len(value)


@declared("expression", "array")
def map_(key: Key, items: list[Any]) -> list[Any]:
    """What the expression gives for each item, nulls included."""
    return [key(each) for each in items]


@declared("array of numbers|array of strings")
def max_(items: list[Any]) -> Any:
    """The largest; null of nothing."""
    return max(items, default=None)


@declared("array of numbers|array of strings")
def min_(items: list[Any]) -> Any:
    """The smallest; null of nothing."""
    return min(items, default=None)


@declared("array", "expression")
def max_by(items: list[Any], key: Key) -> Any:
    """The item for which the expression is largest."""
    return max(items, key=_comparable(items, key), default=None)


@declared("array", "expression")
def min_by(items: list[Any], key: Key) -> Any:
    """The item for which the expression is smallest."""
    return min(items, key=_comparable(items, key), default=None)


@declared("array of numbers|array of strings")
def sort(items: list[Any]) -> list[Any]:
    """The items in order."""
    return sorted(items)


@declared("array", "expression")
def sort_by(items: list[Any], key: Key) -> list[Any]:
    """The items in the order of what the expression gives; it must be text for all, or numbers."""
    return sorted(items, key=_comparable(items, key))


@declared("object", repeats=True)
def merge(*maps: dict[str, Any]) -> dict[str, Any]:
    """One map of all; later ones win."""
    return {key: value for each in maps for key, value in each.items()}


@declared("any", repeats=True)
def not_null(*candidates: Any) -> Any:
    """The first that is not null."""
    return next((each for each in candidates if each is not None), None)


@declared("array|string")
def reverse(value: Any) -> Any:
    """The text or list backwards."""
    return value[::-1]


@declared("any")
def to_array(value: Any) -> list[Any]:
    """The list, or a list of the value."""
    return value if isinstance(value, list) else [value]


@declared("any")
def to_number(value: Any) -> float | int | None:
    """The number, or what the text says; null for what is none."""
    if is_number(value):
        return value  # type: ignore[no-any-return]
    if isinstance(value, str) and len(value) <= _MAX_NUMBER and _NUMBER.fullmatch(value):
        found = float(value)
        return whole(found) if math.isfinite(found) else None
    return None


@declared("any")
def to_string(value: Any) -> str:
    """The text, or the value as JSON."""
    return value if isinstance(value, str) else marshal(value)


@declared("any")
def type_(value: Any) -> str:
    """The name of the value's type."""
    return kind_of(value)


def _comparable(items: list[Any], key: Key) -> Key:
    """The key, once it is known to give one kind that has an order."""
    kinds = {kind_of(key(each)) for each in items}
    if kinds <= {"number"} or kinds <= {"string"}:
        return key
    raise EvaluationError(f"the expression gives {' and '.join(sorted(kinds))}, not only numbers or only text")
