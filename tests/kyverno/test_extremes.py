"""Numbers beyond all measure, which anyone may write into a pod: judged like any other text."""

from typing import Any, Final

import pytest

from app.kyverno.operators import NAMES, OPERATORS
from app.kyverno.semver import InvalidRange, version, version_range
from app.kyverno.values import quantity
from app.model.quantity import InvalidQuantity, parse
from tests.kyverno.evaluating import evaluated
from tests.kyverno.judging import compiled, only, pod

EXTREMES: Final = {
    "a long version": "1" * 5000 + ".0.0",
    "a long part of a version": "1.2.3-" + "1" * 5000,
    "an exponent behind zeros": "1e+00000000099999999",
    "an exponent of many zeros": "1e" + "0" * 5000 + "1",
    "more than a float": "1e400",
    "many digits": "9" * 399,
    "a long range": "1-" + "9" * 5000,
    "a range from far": "9" * 5000 + "-5",
    "a long duration": "9" * 120 + "h",
    "lists in lists": "[" * 100_000,
    "a control character": "\x00",
}


@pytest.mark.parametrize("text", EXTREMES.values(), ids=list(EXTREMES))
@pytest.mark.parametrize("operator", NAMES)
def test_operators_have_an_answer(operator: str, text: str) -> None:
    decide = OPERATORS[operator.lower()]
    pairs: list[tuple[Any, Any]] = [(text, "1.2.3"), ("1.2.3", text), ("5", text), (5, text), (text, 5), (text, "1h")]
    for key, value in (*pairs, (text, text), ([text], [text]), (text, [text])):
        assert decide(key, value) in (True, False)


@pytest.mark.parametrize("text", EXTREMES.values(), ids=list(EXTREMES))
def test_a_rule_has_a_result(text: str) -> None:
    denial = {
        "conditions": {
            "any": [{"key": "{{ request.object.metadata.annotations.x }}", "operator": "GreaterThan", "value": "1h"}]
        }
    }
    policy = compiled({"validate": {"message": "no", "deny": denial}})
    assert only(policy, pod(annotations={"x": text})).status in ("pass", "fail")


def test_numbers_that_versions_cannot_hold() -> None:
    assert version(EXTREMES["a long version"]) is None
    assert version(EXTREMES["a long part of a version"]) is None
    assert version("9223372036854775807.0.0") is not None
    with pytest.raises(InvalidRange):
        version_range("1" * 5000 + ".x")


def test_exponents_behind_zeros() -> None:
    assert parse("1e+0000000003") == 1_000_000
    assert quantity(EXTREMES["an exponent behind zeros"]) is None
    for name in ("an exponent behind zeros", "an exponent of many zeros"):
        with pytest.raises(InvalidQuantity):
            parse(EXTREMES[name])


def test_an_infinite_number_is_no_duration() -> None:
    assert OPERATORS["greaterthan"](float("inf"), "1h") is False
    assert evaluated("to_number(@)", "1e400") is None
