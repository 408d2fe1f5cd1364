"""The operators of conditions: a key, a value, and what each operator says."""

from typing import Any

import pytest

from app.kyverno.gotext import sprint
from app.kyverno.operators import NAMES, OPERATORS


def holds(operator: str, key: Any, value: Any) -> bool:
    return OPERATORS[operator.lower()](key, value)


EQUAL = [
    # key, value, Equals, NotEquals
    ("a", "a", True, False),
    ("a", "b", False, True),
    ("nginx:1", "nginx:*", True, False),
    ("nginx:*", "nginx:1", False, True),  # only the value is a pattern
    (1, 1, True, False),
    (1, 1.0, True, False),
    (1, "1", True, False),
    (1.5, "1.5", True, False),
    (1, "x", False, True),
    (1, True, False, True),
    (True, True, True, False),
    (True, "true", False, True),
    ([], [], True, False),
    (["a"], ["a"], True, False),
    (["a"], "a", False, True),
    ([True], [1], False, True),
    ({"a": 1}, {"a": 1}, True, False),
    ({"a": 1}, {"a": 2}, False, True),
    ({"a": 1}, "a", False, True),
    (None, None, False, False),  # null is of no type that can be compared
    (None, None, False, False),
    ("1h", "60m", True, False),
    ("1h", 3600, True, False),
    ("1Gi", "1024Mi", True, False),
    ("1Gi", "1023Mi", False, True),
    ("1", "x", False, True),
    ("5", 5, True, False),
    ("5", 6, False, True),
    ("", "", True, False),
    ("a", "", False, True),
]


@pytest.mark.parametrize(("key", "value", "equals", "not_equals"), EQUAL)
def test_equality(key: Any, value: Any, equals: bool, not_equals: bool) -> None:
    assert holds("Equals", key, value) is equals
    assert holds("Equal", key, value) is equals
    assert holds("NotEquals", key, value) is not_equals
    assert holds("NotEqual", key, value) is not_equals


IN = [
    # key, value, AnyIn, AllIn, AnyNotIn, AllNotIn
    ("a", ["a", "b"], True, True, False, False),
    ("c", ["a", "b"], False, False, True, True),
    ("kube-system", ["default", "kube-*"], True, True, False, False),
    ("kube-*", ["kube-system"], True, True, False, False),  # patterns count on both sides
    (64, "64", True, True, False, False),
    (64, [64, 65], True, True, False, False),
    (True, [True], True, True, False, False),
    ("a", '["a", "b"]', True, True, False, False),
    ("c", '["a", "b"]', False, False, True, True),
    ("a", '{"a": 1}', False, False, False, False),  # JSON of another shape
    ("5", "1-10", True, True, False, False),
    ("50", "1-10", False, False, True, True),
    (["a", "b"], ["a", "b", "c"], True, True, False, False),
    (["a", "d"], ["a", "b", "c"], True, False, True, False),
    (["d", "e"], ["a", "b", "c"], False, False, True, True),
    (["a"], "a", True, True, False, False),
    (["kube-a", "kube-b"], "kube-*", True, True, False, False),
    (["1", "20"], "1-10", True, False, True, False),
    ([], ["a"], False, True, False, True),
    ([], [], False, True, False, True),
    ("a", None, False, False, False, False),
    (["a"], {"a": 1}, False, False, False, False),
    ({"a": 1}, ["a"], False, False, False, False),
    (None, ["a"], False, False, False, False),
    ([8080], 8080, True, True, False, False),
    ([None], ["<nil>"], True, True, False, False),
]


@pytest.mark.parametrize(("key", "value", "any_in", "all_in", "any_not_in", "all_not_in"), IN)
def test_lists(key: Any, value: Any, any_in: bool, all_in: bool, any_not_in: bool, all_not_in: bool) -> None:
    found = [holds(name, key, value) for name in ("AnyIn", "AllIn", "AnyNotIn", "AllNotIn")]
    assert found == [any_in, all_in, any_not_in, all_not_in]


OLD_IN = [
    # key, value, In, NotIn
    ("a", ["a", "b"], True, False),
    ("c", ["a", "b"], False, True),
    (["a", "b"], ["a", "b", "c"], True, False),
    (["a", "d"], ["a", "b", "c"], False, True),
    ("a", '["a"]', True, False),
    ("a", "a*", True, False),
    ("b", "a", False, False),
    ("a", 1, False, False),
]


@pytest.mark.parametrize(("key", "value", "is_in", "not_in"), OLD_IN)
def test_the_deprecated_lists(key: Any, value: Any, is_in: bool, not_in: bool) -> None:
    assert (holds("In", key, value), holds("NotIn", key, value)) == (is_in, not_in)


SIZES = [
    # key, value, the sign of the comparison; None: cannot be compared
    (2, 1, 1),
    (1, 1.0, 0),
    (1, "2", -1),
    ("2", 1, 1),
    ("1", "2", -1),
    ("500m", "1", -1),  # both quantities
    ("500m", 1, 1),  # one side is a duration: 500 minutes and 1 second
    ("1h", "30m", 1),
    ("30s", 60, -1),
    ("2Gi", "1024Mi", 1),
    ("1.2.3", "1.10.0", -1),
    ("1.2.3-rc1", "1.2.3", -1),
    ("x", 1, None),
    (None, 1, None),
    ([2], 1, None),
    (True, 0, None),
    (1, "x", None),
    (1, None, None),
]


@pytest.mark.parametrize(("key", "value", "sign"), SIZES)
def test_sizes(key: Any, value: Any, sign: int | None) -> None:
    found = [holds(name, key, value) for name in ("GreaterThan", "GreaterThanOrEquals", "LessThan", "LessThanOrEquals")]
    wanted = [sign > 0, sign >= 0, sign < 0, sign <= 0] if sign is not None else [False] * 4
    assert found == wanted


@pytest.mark.parametrize(
    ("key", "value", "greater"),
    [("1h", "59m", True), (3600, "59m", True), ("1h", 3600, False), ("x", "1h", False), ("1h", "x", False)],
)
def test_the_deprecated_durations(key: Any, value: Any, greater: bool) -> None:
    assert holds("DurationGreaterThan", key, value) is greater


def test_every_name_is_an_operator_in_any_case() -> None:
    assert {name.lower() for name in NAMES} == set(OPERATORS)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (64.0, "64"), (1.5, "1.5"), (1e21, "1e+21"), (None, "<nil>"), (True, "true"), ("a", "a"), (3, "3"),
        ({"b": 1, "a": [1, "x"]}, "map[a:[1 x] b:1]"),
    ],
)  # fmt: skip
def test_values_as_text(value: Any, text: str) -> None:
    assert sprint(value) == text
