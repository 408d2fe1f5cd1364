"""The types of JMESPath over values as JSON gives them, and when two of them are equal."""

from collections.abc import Callable
from typing import Any, Final


def is_number(value: Any) -> bool:
    """Whether the value is a number; to Python true and false are."""
    return type(value) is int or type(value) is float


def is_false(value: Any) -> bool:
    """Whether the value counts as false: null, false, and whatever is empty; 0 does not."""
    return value is None or value is False or (isinstance(value, str | list | dict) and not value)


def equal(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON; ``true`` is not ``1``, at any depth."""
    if type(one) is dict:
        if type(other) is not dict or one.keys() != other.keys():
            return False
        return all(item is other[key] or equal(item, other[key]) for key, item in one.items())
    if type(one) is list:
        if type(other) is not list or len(one) != len(other):
            return False
        # What patches leave as it was is the same object on both sides.
        return all(item is its or equal(item, its) for item, its in zip(one, other, strict=True))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def is_list_of(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Whether a value is a list of which every item passes the test."""
    return lambda value: type(value) is list and all(map(test, value))


def kind_of(value: Any) -> str:
    """The name of the value's type, for messages."""
    return next((name for name, test in TESTS.items() if test(value)), "expression")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


TESTS: Final[dict[str, Callable[[Any], bool]]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "string": _is_text,
    "number": is_number,
    "object": lambda value: type(value) is dict,
    "array": lambda value: type(value) is list,
    "array of numbers": is_list_of(is_number),
    "array of strings": is_list_of(_is_text),
    "expression": callable,
    "any": lambda value: not callable(value),
}
