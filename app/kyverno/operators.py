"""The operators of conditions: is the key to the value as the operator says?

Source: kyverno pkg/engine/variables/operator. Where a type is not one that an operator takes, the answer is false, and
that of NotEquals true. For comparisons by size, durations come first (one side being one is enough, a number on the
other side counts seconds: ``"500m"`` is greater than ``1``), then quantities, numbers and versions.
"""

import json
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from math import isfinite
from operator import ge, gt, le, lt
from typing import Any, Final

from app.kyverno.gotext import sprint
from app.kyverno.scalars import is_range, matches
from app.kyverno.semver import version
from app.kyverno.values import NANO, duration, has_wildcard, quantity, wildcard

Operator = Callable[[Any, Any], bool]

_COMPARED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "GreaterThan": gt,
    "GreaterThanOrEquals": ge,
    "LessThan": lt,
    "LessThanOrEquals": le,
}
_LONGEST_NUMBER: Final = 400
_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)


def equals(key: Any, value: Any) -> bool:
    """``Equals``: numbers and texts alike, durations and quantities by what they mean, texts by wildcards."""
    kind = type(key)
    if kind is bool or kind in (list, dict):
        return type(value) is kind and key == value and _same_types(key, value)
    if kind is int or kind is float:
        return _equal_number(key, value)
    if kind is not str:
        return False
    both = _durations(key, value)
    if both is not None:
        return both[0] == both[1]
    amount = quantity(key)
    if amount is not None and type(value) in (str, int, float):
        other = quantity(sprint(value))
        return other is not None and amount.nano == other.nano
    return type(value) is str and wildcard(value, key)


def not_equals(key: Any, value: Any) -> bool:
    """``NotEquals``: true too where the types cannot be compared; false for null."""
    return key is not None and not equals(key, value)


def _equal_number(key: float, value: Any) -> bool:
    if type(value) in (int, float):
        return bool(key == value)
    if type(value) is not str:
        return False
    return _number(value) == key


def _same_types(key: Any, value: Any) -> bool:
    """Python takes 1 and True for the same, JSON does not."""
    if type(key) is list:
        return all(map(_same_types, key, value))
    if type(key) is dict:
        return all(_same_types(item, value[name]) for name, item in key.items())
    return (type(key) is bool) == (type(value) is bool)


def _number(text: str) -> float | None:
    return float(text) if len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text) else None


def _durations(key: Any, value: Any) -> tuple[int, int] | None:
    """Both in nanoseconds, if one of them is a duration and the other a duration or a number of seconds."""
    first, second = _duration(key), _duration(value)
    if first is None and second is None:
        return None
    first = _seconds(key) if first is None else first
    second = _seconds(value) if second is None else second
    return None if first is None or second is None else (first, second)


def _duration(value: Any) -> int | None:
    return duration(value) if type(value) is str and value != "0" else None


def _seconds(value: Any) -> int | None:
    return int(value) * NANO if type(value) is int or (type(value) is float and isfinite(value)) else None


def _sized(compare: Callable[[Any, Any], bool]) -> Operator:
    def compared(key: Any, value: Any) -> bool:
        if type(key) not in (int, float, str):
            return False
        both = _durations(key, value)
        if both is not None:
            return compare(*both)
        if type(key) is not str:
            number = _number(value) if type(value) is str else value if type(value) in (int, float) else None
            return number is not None and compare(key, number)
        if type(value) is str:
            first, second = quantity(key), quantity(value)
            if first is not None and second is not None:
                return compare(first.nano, second.nano)
        number = _number(key)
        if number is not None:
            return compared(number, value)
        return type(value) is str and _versions(key, value, compare)

    return compared


def _versions(key: str, value: str, compare: Callable[[Any, Any], bool]) -> bool:
    first, second = version(key), version(value)
    return first is not None and second is not None and compare(first.order, second.order)


def _lasting(compare: Callable[[Any, Any], bool]) -> Operator:
    """The old ``Duration...`` operators: durations, and numbers of seconds."""

    def compared(key: Any, value: Any) -> bool:
        first, second = (duration(each) if type(each) is str else _seconds(each) for each in (key, value))
        return first is not None and second is not None and compare(first, second)

    return compared


def _texts(key: Any) -> tuple[list[str], bool] | None:
    """The key as texts, and whether it is a list; None for what has no place in a list."""
    if type(key) is list:
        return [sprint(item) for item in key], True
    return ([sprint(key)], False) if type(key) in (str, int, float, bool) else None


def _either_way(key: str, value: str) -> bool:
    return wildcard(value, key) or wildcard(key, value)


@lru_cache(maxsize=256)
def _json_texts(text: str) -> tuple[str, ...] | None:
    """The texts of a JSON list; text that is no JSON is one by itself; None for JSON of another shape."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return (text,)
    if type(found) is list and all(type(item) is str for item in found):
        return tuple(found)
    return () if found is None else None


def _among(key: str, value: Any) -> bool | None:
    """Whether one text is among the value; None where the value is no list of any kind."""
    if type(value) is list:
        return any(_either_way(key, sprint(item)) for item in value)
    if type(value) is not str:
        return None
    if wildcard(value, key):
        return True
    if is_range(value):
        return matches(key, value)
    listed = _json_texts(value)
    return None if listed is None else key in listed


def _holds(keys: list[str], value: Any) -> list[bool] | None:
    """For each key of a list, whether it is among the value; None where the value is no list of any kind."""
    if type(value) is str:
        if len(keys) == 1 and keys[0] == value:
            return [True]
        if is_range(value):
            return [matches(key, value) for key in keys]
        listed: Iterable[str] | None = _json_texts(value)
        if listed is None:
            return None
    elif type(value) is list:
        listed = [sprint(item) for item in value]
    elif type(value) in (int, float):
        listed = [sprint(value)]
    else:
        return None
    items = tuple(listed)
    exact, patterns = frozenset(items), [item for item in items if has_wildcard(item)]
    return [
        key in exact
        or any(wildcard(item, key) for item in patterns)
        or (has_wildcard(key) and any(wildcard(key, item) for item in items))
        for key in keys
    ]


def _within(of_list: Callable[[list[bool]], bool], *, negated: bool) -> Operator:
    """AnyIn and its kin: ``of_list`` decides for a list of keys; one key is in or not."""

    def decide(key: Any, value: Any) -> bool:
        texts = _texts(key)
        if texts is None:
            return False
        keys, is_list = texts
        if is_list:
            found = _holds(keys, value)
            return found is not None and of_list(found)
        among = _among(keys[0], value)
        return among is not None and among is not negated

    return decide


def _old_in(key: Any, value: Any) -> bool | None:
    """``In``: every key is in the list, exactly; a single key may be a pattern."""
    if type(key) is not list:
        return _old_among(sprint(key), value) if type(key) in (str, int, float) else None
    keys = [sprint(item) for item in key]
    if type(value) is list:
        return all(item in value for item in keys) if all(type(item) is str for item in value) else None
    if type(value) is not str:
        return None
    listed = _json_texts(value)
    return keys == [value] or (None if listed is None else all(item in listed for item in keys))


def _old_among(key: str, value: Any) -> bool | None:
    if type(value) is list:
        return any(wildcard(key, sprint(item)) for item in value)
    if type(value) is not str:
        return None
    listed = _json_texts(value)
    return wildcard(value, key) or (None if listed is None or listed == (value,) else key in listed)


OPERATORS: Final[dict[str, Operator]] = {
    "equal": equals,
    "equals": equals,
    "notequal": not_equals,
    "notequals": not_equals,
    "in": lambda key, value: _old_in(key, value) is True,
    "notin": lambda key, value: _old_in(key, value) is False,
    "anyin": _within(any, negated=False),
    "allin": _within(all, negated=False),
    "anynotin": _within(lambda found: not all(found), negated=True),
    "allnotin": _within(lambda found: not any(found), negated=True),
    **{name.lower(): _sized(compare) for name, compare in _COMPARED.items()},
    **{f"duration{name}".lower(): _lasting(compare) for name, compare in _COMPARED.items()},
}
"""By name in lower case, as Kyverno looks them up."""

NAMES: Final = (
    "Equals", "NotEquals", "AnyIn", "AllIn", "AnyNotIn", "AllNotIn", *_COMPARED, "Equal", "NotEqual", "In", "NotIn",
    *(f"Duration{name}" for name in _COMPARED),
)  # fmt: skip
"""As they are written, the deprecated ones last."""

assert set(OPERATORS) == {name.lower() for name in NAMES}
