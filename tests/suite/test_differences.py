"""Comparing an object with what was wanted of it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.suite.differences import differences

FOUND = {"a": 1, "b": {"c": None, "d/e": "x"}, "l": [1, {"k": 2}], "named": [{"name": "x", "v": 1}, {"name": "y"}]}


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"a": 1},
        {"b": {"d/e": "x"}},
        {"b": {"c": None, "nothing": None}},
        {"l": [1, {"k": 2}]},
        {"l": [1, {}]},
        {"named": [{"name": "y"}]},
        {"named": [{"name": "y", "v": None}, {"name": "x", "v": 1}]},
    ],
)
def test_a_part(wanted: Any) -> None:
    assert list(differences(FOUND, wanted, exact=False)) == []


@pytest.mark.parametrize(
    ("wanted", "difference"),
    [
        ({"a": True}, ("/a", "1", "true")),
        ({"a": None}, ("/a", "1", "null")),
        ({"a": {"b": 1}}, ("/a", "1", '{"b":1}')),
        ({"b": {"d/e": "y"}}, ("/b/d~1e", '"x"', '"y"')),
        ({"x": 1}, ("/x", "nothing", "1")),
        ({"l": [1]}, ("/l", '[1,{"k":2}]', "[1]")),
        ({"l": [1, {"k": 3}]}, ("/l/1/k", "2", "3")),
        ({"named": []}, ("/named", '[{"name":"x","v":1},{"name":"y"}]', "[]")),
        ({"named": [{"name": "z"}]}, ("/named/0/name", '["x","y"]', '"z"')),
        ({"named": [{"name": "y"}, {"name": "x", "v": 2}]}, ("/named/1/v", "1", "2")),
    ],
)
def test_what_is_not_there(wanted: Any, difference: tuple[str, str, str]) -> None:
    assert list(differences(FOUND, wanted, exact=False)) == [difference]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({**FOUND, "a": None}, ("/a", "1", "null")),
        ({**FOUND, "m": None}, ("/m", "nothing", "null")),
        ({key: FOUND[key] for key in "abl"}, ("/named", '[{"name":"x","v":1},{"name":"y"}]', "nothing")),
        ({**FOUND, "named": [{"name": "x"}, {"name": "y"}]}, ("/named/0/v", "1", "nothing")),
    ],
)
def test_exactly(wanted: Any, found: tuple[str, str, str]) -> None:
    assert list(differences(FOUND, wanted, exact=True)) == [found]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "name"]), inner, max_size=3),
)


@given(VALUES, VALUES)
def test_no_difference_means_equal(found: Any, wanted: Any) -> None:
    assert list(differences(found, found, exact=True)) == []
    assert (list(differences(found, wanted, exact=True)) == []) is (repr_of(found) == repr_of(wanted))


def repr_of(value: Any) -> Any:
    """The value, so that true is not 1, and keys have no order."""
    if isinstance(value, dict):
        return {key: repr_of(inner) for key, inner in value.items()}
    return [repr_of(inner) for inner in value] if isinstance(value, list) else repr(value)


def test_long_values_are_cut() -> None:
    (difference,) = differences("x" * 1000, "y", exact=True)
    assert len(difference.found) == 200
