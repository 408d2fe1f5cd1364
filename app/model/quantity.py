"""Resource quantities, by the grammar of the API server.

Source: k8s.io/apimachinery pkg/api/resource/quantity.go and suffix.go (v0.37.2) for the grammar, and
k8s.io/kubernetes pkg/apis/core/v1/defaults.go SetDefaults_ResourceList, which rounds every quantity of a pod
up to a thousandth. Values here are therefore integers in thousandths: ``parse("1500m") == parse(1.5) == 1500``.
"""

import re
from decimal import ROUND_UP, Context, Decimal
from functools import lru_cache
from typing import Final, NamedTuple

MILLI: Final = 1000

_GRAMMAR: Final = re.compile(
    r"(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))"
    r"(?:(?P<suffix>Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE])|[eE](?P<exponent>[+-]?[0-9]+))?",
    re.ASCII,
)
_SCALE: Final = {
    **{suffix: Decimal(10) ** (3 * power) for power, suffix in enumerate(("n", "u", "m", "", "k", "M", "G"), -3)},
    **{suffix: Decimal(10) ** (3 * power) for power, suffix in enumerate(("T", "P", "E"), 4)},
    **{suffix: Decimal(2) ** (10 * power) for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)},
}
# Longer than any number that means an amount of something; a guard against computing 10**1000000.
_MAX_DIGITS: Final = 64
_MAX_EXPONENT: Final = 64
_EXACT: Final = Context(prec=4 * _MAX_DIGITS)
# What Quantity.UnmarshalJSON trims and JSON text holds as it is; a tab or newline is an escape there, and no quantity.
_SPACE: Final = " \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
# ParseQuantity cuts amounts with a binary suffix to an int64.
_MOST_BINARY: Final = (2**63 - 1) * MILLI


class InvalidQuantity(ValueError):
    """The API server would not read this value as a quantity."""


def parse(value: object) -> int:
    """The quantity in thousandths, rounded away from zero; raises InvalidQuantity.

    ``value`` is what JSON holds there: text or a number (a bare ``1`` and ``"1"`` are the same to the API
    server); null counts as zero, as in Quantity.UnmarshalJSON.
    """
    if isinstance(value, str):
        return _parse_text(value)
    if isinstance(value, bool):
        raise InvalidQuantity("true and false are no quantities")
    if isinstance(value, int | float):
        return _parse_text(repr(value))
    if value is None:
        return 0
    raise InvalidQuantity("neither text nor a number")


class Exact(NamedTuple):
    """An amount as it is written: nothing is rounded. ``suffix`` is "" for none, "e" for a power of ten."""

    amount: Decimal
    suffix: str


def exact(text: str) -> Exact:
    """The quantity by the grammar alone, which knows no spaces around it; raises InvalidQuantity."""
    match = _GRAMMAR.fullmatch(text)
    if match is None:
        raise InvalidQuantity(f"{text!r} is not a quantity")
    number, suffix, exponent = match.group("number", "suffix", "exponent")
    if len(number) > _MAX_DIGITS or (exponent and _is_large(exponent)):
        raise InvalidQuantity(f"{text[:80]!r} is out of range")
    scale = _EXACT.power(Decimal(10), int(exponent)) if exponent else _SCALE[suffix or ""]
    return Exact(_EXACT.multiply(Decimal(number), scale), "e" if exponent else suffix or "")


def _is_large(exponent: str) -> bool:
    return len(exponent) > _MAX_DIGITS or abs(int(exponent)) > _MAX_EXPONENT


@lru_cache(maxsize=4096)
def _parse_text(text: str) -> int:
    amount, suffix = exact(text.strip(_SPACE))
    milli = int(_EXACT.multiply(amount, Decimal(MILLI)).to_integral_value(ROUND_UP, _EXACT))
    if suffix.endswith("i"):
        return max(-_MOST_BINARY, min(_MOST_BINARY, milli))
    return milli


def text(milli: int) -> str:
    """The shortest plain form of a quantity in thousandths: ``"2"``, ``"500m"``."""
    whole, rest = divmod(milli, MILLI)
    return str(whole) if not rest else f"{milli}m"
