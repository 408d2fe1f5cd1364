"""Arithmetic on numbers, quantities and durations. Source: kyverno pkg/engine/jmespath/arithmetic.go.

A number is a scalar; text is a quantity if it can be read as one, else a duration. So ``'5m'`` is five thousandths.
"""

import math
from decimal import ROUND_DOWN, Context, Decimal
from typing import Any, Final

from app.kyverno.expressions.errors import EvaluationError
from app.kyverno.expressions.functions import declared
from app.kyverno.gojson import number, whole
from app.kyverno.values import NANO, Quantity, billionths, duration, duration_text, quantity

_EXACT: Final = Context(prec=400)
_MAX_PLACES: Final = 300


class Span(int):
    """A duration in nanoseconds."""

    __slots__ = ()


class Scalar(float):
    """A plain number, as Go has it: a float."""

    __slots__ = ()


Operand = Scalar | Quantity | Span


@declared("any", "any")
def add(one: Any, other: Any) -> Any:
    """The sum of two of a kind."""
    return _result(_added(_operand(one), _operand(other)))


@declared("array")
def sum_(items: list[Any]) -> Any:
    """The sum of at least one, all of a kind."""
    if not items:
        raise EvaluationError("there is nothing to add up")
    total = items[0]
    for each in items[1:]:
        total = _result(_added(_operand(total), _operand(each)))
    return total


@declared("any", "any")
def subtract(one: Any, other: Any) -> Any:
    """The difference of two of a kind."""
    left, right = _operand(one), _operand(other)
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        return str(left._replace(nano=left.nano - right.nano, format=left.format if left.nano else right.format))
    if isinstance(left, Span) and isinstance(right, Span):
        return duration_text(int(left) - int(right))
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        return whole(left - right)
    raise _mismatch(left, right)


@declared("any", "any")
def multiply(one: Any, other: Any) -> Any:
    """The product; one of the two must be a number."""
    left, right = _operand(one), _operand(other)
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        return whole(left * right)
    if isinstance(left, Scalar):
        left, right = right, left
    if isinstance(left, Quantity) and isinstance(right, Scalar):
        return str(left._replace(nano=billionths(_EXACT.multiply(_amount(left), _decimal(right)))))
    if isinstance(left, Span) and isinstance(right, Scalar):
        return duration_text(_nanoseconds(_seconds(left) * right))
    raise _mismatch(left, right)


@declared("any", "any")
def divide(one: Any, other: Any) -> Any:
    """The quotient: a number of two of a kind, else of the kind of the first."""
    left, right = _operand(one), _operand(other)
    if not (right.nano if isinstance(right, Quantity) else right):
        raise EvaluationError("the divisor is zero")
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        return whole(left / right)
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        return whole((left.nano / NANO) / (right.nano / NANO))
    if isinstance(left, Span) and isinstance(right, Span):
        return whole(_seconds(left) / _seconds(right))
    if isinstance(left, Quantity) and isinstance(right, Scalar):
        return _shared(left, right)
    if isinstance(left, Span) and isinstance(right, Scalar):
        return duration_text(_nanoseconds(_seconds(left) / right))
    raise _mismatch(left, right)


@declared("any", "any")
def modulo(one: Any, other: Any) -> Any:
    """The remainder, with the sign of the first; numbers and quantities must be whole."""
    left, right = _operand(one), _operand(other)
    if isinstance(left, Span) and isinstance(right, Span):
        return duration_text(_remainder(int(left), int(right)))
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        rest = _remainder(_integer(left.nano / NANO), _integer(right.nano / NANO))
        return str(left._replace(nano=rest * NANO))
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        return _remainder(_integer(left), _integer(right))
    raise _mismatch(left, right)


@declared("number", "number")
def round_(value: float, places: float) -> float:
    """The value to so many decimal places, halves away from zero."""
    digits = _integer(places)
    if not 0 <= digits <= _MAX_PLACES:
        raise EvaluationError("the number of places is out of range")
    shift = 10.0**digits
    moved = abs(value * shift)
    if not math.isfinite(moved):
        return value
    low = math.floor(moved)
    return whole(math.copysign(low + (moved - low >= 0.5), value) / shift)


def _operand(value: Any) -> Operand:
    if isinstance(value, str):
        amount = quantity(value)
        if amount is not None:
            return amount
        span = duration(value)
        if span is not None:
            return Span(span)
    elif type(value) is int or type(value) is float:
        return Scalar(value)
    raise EvaluationError("only numbers, quantities and durations can be computed with")


def _result(value: Operand) -> Any:
    if isinstance(value, Quantity):
        return str(value)
    return duration_text(value) if isinstance(value, Span) else whole(value)


def _added(left: Operand, right: Operand) -> Operand:
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        return left._replace(nano=left.nano + right.nano, format=left.format if left.nano else right.format)
    if isinstance(left, Span) and isinstance(right, Span):
        return Span(int(left) + int(right))
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        return Scalar(left + right)
    raise _mismatch(left, right)


def _shared(amount: Quantity, divisor: Scalar) -> str:
    """The quantity divided, cut to the decimal places that the two are written with."""
    by = _decimal(divisor)
    places = max(amount.places, -int(by.as_tuple().exponent), 0)
    quotient = _EXACT.divide(_amount(amount), by).quantize(Decimal(1).scaleb(-places), ROUND_DOWN, _EXACT)
    return str(amount._replace(nano=billionths(quotient)))


def _amount(amount: Quantity) -> Decimal:
    return Decimal(amount.nano).scaleb(-9, _EXACT)


def _decimal(value: Scalar) -> Decimal:
    return Decimal(number(value))


def _seconds(span: Span) -> float:
    return int(span) / NANO


def _nanoseconds(seconds: float) -> int:
    return int(seconds * NANO)


def _integer(value: float) -> int:
    if int(value) != value:
        raise EvaluationError("only whole numbers can be used there")
    return int(value)


def _remainder(left: int, right: int) -> int:
    if not right:
        raise EvaluationError("the divisor is zero")
    return int(math.copysign(1, left)) * (abs(left) % abs(right))


def _mismatch(left: Operand, right: Operand) -> EvaluationError:
    one, other = (
        "a quantity" if isinstance(each, Quantity) else "a duration" if isinstance(each, Span) else "a number"
        for each in (left, right)
    )
    return EvaluationError(f"{one} and {other} do not go together")
