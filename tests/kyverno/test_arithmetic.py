"""Arithmetic on numbers, quantities and durations: which go together, and the unit of the result."""

from typing import Any

import pytest

from app.kyverno.expressions import EvaluationError
from tests.kyverno.evaluating import evaluated


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("add(`12`, `13`)", 25),
        ("add(`0.1`, `0.2`)", 0.1 + 0.2),
        ("add('12Ki', '13Ki')", "25Ki"),
        ("add('12Ki', '13')", "12301"),
        ("add('500m', '1')", "1500m"),
        ("add('12s', '13s')", "25s"),
        ("add('1h', '30m')", None),
        ("add('1h', '1800s')", "1h30m0s"),
        ("sum(['1', '2', '500m'])", "3500m"),
        ("sum(['1s', '2s'])", "3s"),
        ("sum(['1'])", "1"),
        ("subtract(`12`, `13`)", -1),
        ("subtract('12Ki', '13Ki')", "-1Ki"),
        ("subtract('12Ki', '13')", "12275"),
        ("subtract('12s', '13s')", "-1s"),
        ("multiply(`3`, `2.5`)", 7.5),
        ("multiply('12Ki', `2`)", "24Ki"),
        ("multiply(`2`, '12Ki')", "24Ki"),
        ("multiply('12s', `2`)", "24s"),
        ("multiply(`1.5`, '12s')", "18s"),
        ("multiply('100m', `0.5`)", "50m"),
        ("divide(`25`, `2`)", 12.5),
        ("divide(`4`, `2`)", 2),
        ("divide('12Ki', '200')", 61.44),
        ("divide('1Gi', '512Mi')", 2),
        ("divide('12Ki', `200`)", "61"),
        ("divide('12Ki', `2`)", "6Ki"),
        ("divide('100m', `3`)", "33m"),
        ("divide('1', `3`)", "0"),
        ("divide('12s', '5s')", 2.4),
        ("divide('12s', `5`)", "2.4s"),
        ("modulo(`25`, `2`)", 1),
        ("modulo(`-7`, `3`)", -1),
        ("modulo('12Ki', '5Ki')", "2Ki"),
        ("modulo('13s', '5s')", "3s"),
        ("round(`1.25`, `1`)", 1.3),
        ("round(`-2.5`, `0`)", -3),
        ("round(`9.9`, `0`)", 10),
        ("round(`1.005`, `300`)", 1.005),
    ],
)
def test_the_result(expression: str, value: Any) -> None:
    if value is None:  # '30m' is a quantity first: thirty thousandths
        with pytest.raises(EvaluationError, match="a duration and a quantity do not go together"):
            evaluated(expression)
        return
    found = evaluated(expression)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("name", ["add", "subtract"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("`12`, '13Ki'", "a number and a quantity"),
        ("'12Ki', '13s'", "a quantity and a duration"),
        ("'12s', `13`", "a duration and a number"),
        ("'12s', '13'", "a duration and a quantity"),
    ],
)
def test_sums_are_of_one_kind(name: str, arguments: str, said: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        evaluated(f"{name}({arguments})")
    assert str(caught.value) == f"{name}(): {said} do not go together"


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("multiply('12Ki', '12Ki')", "multiply(): a quantity and a quantity do not go together"),
        ("multiply('12s', '2')", "multiply(): a duration and a quantity do not go together"),
        ("divide(`1`, '2')", "divide(): a number and a quantity do not go together"),
        ("divide(`1`, `0`)", "divide(): the divisor is zero"),
        ("divide('1', '0')", "divide(): the divisor is zero"),
        ("divide('1s', '0s')", "divide(): the divisor is zero"),
        ("modulo(`1`, `0`)", "modulo(): the divisor is zero"),
        ("modulo('1s', '0s')", "modulo(): the divisor is zero"),
        ("modulo(`1.5`, `1`)", "modulo(): only whole numbers can be used there"),
        ("modulo('500m', '1')", "modulo(): only whole numbers can be used there"),
        ("modulo('1s', `1`)", "modulo(): a duration and a number do not go together"),
        ("add('x', '1')", "add(): only numbers, quantities and durations can be computed with"),
        ("add(nothing, `1`)", "add(): only numbers, quantities and durations can be computed with"),
        ("add(`true`, `1`)", "add(): only numbers, quantities and durations can be computed with"),
        ("round(`1.5`, `-1`)", "round(): the number of places is out of range"),
        ("round(`1.5`, `0.5`)", "round(): only whole numbers can be used there"),
    ],
)
def test_what_cannot_be_computed(expression: str, message: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        evaluated(expression)
    assert str(caught.value) == message
