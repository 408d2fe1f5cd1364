"""The scalars of a pattern: what a value must be.

Text is terms joined by ``|`` (or) and, within them, ``&`` (and). A term is an operator (``>=``, ``<=``, ``>``, ``<``,
``!``), a range (``1-5``, or ``1!-5`` for outside) or text with wildcards. Each is tried as a duration, as a quantity
and as text, and holds if one of these does; so ``60m`` equals ``1h``, and ``!1h`` holds for ``60m`` as text.
Source: kyverno pkg/engine/pattern/pattern.go, pkg/engine/operator/operator.go.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final

from app.kyverno.values import duration, quantity, wildcard

Check = Callable[[Any], bool]

_OPERATORS: Final = {">=": ge, "<=": le, ">": gt, "<": lt, "!": ne}
_END: Final = r"([-|+]?\d+(?:\.\d+)?[A-Za-z]*)"
_INSIDE: Final = re.compile(f"{_END}-{_END}", re.ASCII)
_OUTSIDE: Final = re.compile(f"{_END}!-{_END}", re.ASCII)
_INTEGER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_LONGEST_NUMBER: Final = 400


def check_for(pattern: Any) -> Check:
    """The check that a scalar of a pattern stands for."""
    if type(pattern) is str:
        return _text(pattern)
    if pattern is None:
        return _empty
    if type(pattern) is bool:
        return lambda value: type(value) is bool and value == pattern
    return lambda value: _is_number(value, pattern)


def is_range(pattern: str) -> bool:
    """Whether the text is a range like ``1-5``."""
    return len(pattern) > 1 and _operator(pattern) == "" and _INSIDE.fullmatch(pattern) is not None


def matches(value: Any, pattern: Any) -> bool:
    """Whether the value is what the pattern asks for."""
    return check_for(pattern)(value)


def _empty(value: Any) -> bool:
    """The pattern null holds for what is not there, and for zero values."""
    return value is None or (type(value) in (bool, int, float, str) and not value)


def _is_number(value: Any, pattern: float) -> bool:
    if type(value) in (int, float):
        return bool(value == pattern)
    if type(value) is not str or len(value) > _LONGEST_NUMBER:
        return False
    if type(pattern) is int:
        return _INTEGER.fullmatch(value) is not None and int(value) == pattern
    try:
        return float(value) == pattern
    except ValueError:
        return False


@lru_cache(maxsize=4096)
def _text(pattern: str) -> Check:
    ways = [[_term(term.strip(" ")) for term in way.strip(" ").split("&")] for way in pattern.split("|")]
    if len(ways) == 1 and len(ways[0]) == 1:
        only = ways[0][0]
        return lambda value: only(value) or (type(value) is str and value == pattern)

    def check(value: Any) -> bool:
        if type(value) is str and value == pattern:
            return True
        return any(all(term(value) for term in way) for way in ways)

    return check


def _term(term: str) -> Check:
    if len(term) > 1:
        operator = _operator(term)
        if operator:
            return _compared(operator, term[len(operator) :].strip())
        inside = _INSIDE.fullmatch(term)
        if inside:
            low, high = _compared(">=", inside[1]), _compared("<=", inside[2])
            return lambda value: low(value) and high(value)
        outside = _OUTSIDE.fullmatch(term)
        if outside:
            below, above = _compared("<", outside[1]), _compared(">", outside[2])
            return lambda value: below(value) or above(value)
    return _compared("", term)


def _operator(term: str) -> str:
    return next((operator for operator in _OPERATORS if term.startswith(operator)), "")


def _compared(operator: str, term: str) -> Check:
    compare = _OPERATORS.get(operator, eq)
    nanoseconds = duration(term)
    wanted = quantity(term)
    as_text = operator in ("", "!")

    def check(value: Any) -> bool:
        written = _number_text(value)
        if written is not None:
            if nanoseconds is not None:
                found = duration(written)
                if found is not None and compare(found, nanoseconds):
                    return True
            if wanted is not None:
                amount = quantity(written)
                if amount is not None and compare(amount.nano, wanted.nano):
                    return True
        if as_text:
            text = go_scalar(value)
            return text is not None and wildcard(term, text) is (operator == "")
        return False

    return check


def _number_text(value: Any) -> str | None:
    """The value as a number is read: nothing counts as 0; None for what is no number and no text."""
    if type(value) is str:
        return value
    if value is None:
        return "0"
    if type(value) is int:
        return str(value)
    return f"{value:f}" if type(value) is float else None


def go_scalar(value: Any) -> str | None:
    """The value as text to compare with; None for null, maps and lists."""
    if type(value) is str:
        return value
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is int:
        return str(value)
    if type(value) is float:
        return _scientific(value)
    return None


def _scientific(value: float) -> str:
    """As strconv.FormatFloat(value, 'E', -1, 64): ``1.5E+00``."""
    digits, _, exponent = f"{value:.17E}".partition("E")
    for precision in range(17):
        candidate = f"{value:.{precision}E}"
        if float(candidate) == value:
            digits, _, exponent = candidate.partition("E")
            break
    return f"{digits}E{exponent}"
