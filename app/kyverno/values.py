"""Values as Kyverno compares and computes them: quantities, durations, and text with wildcards.

Source: k8s.io/apimachinery pkg/api/resource (ParseQuantity, CanonicalizeBytes), Go's time.ParseDuration and
Duration.String, kyverno ext/wildcard. Unlike ``app.model.quantity``, which reads a pod as the API server defaults it,
nothing is rounded to thousandths here, and a sum is written in the unit that its first term was.
"""

import re
from decimal import ROUND_UP, Context, Decimal
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from app.model.quantity import InvalidQuantity, exact

NANO: Final = 10**9
"""A quantity is a whole number of billionths, and a duration one of nanoseconds."""

Format = Literal["binary", "decimal", "exponent"]

_EXACT: Final = Context(prec=400)
_MOST_BINARY: Final = (2**63 - 1) * NANO
_BINARY: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL: Final = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "\u00b5s": 10**3,  # the micro sign
    "\u03bcs": 10**3,  # the Greek letter mu
    "ms": 10**6,
    "s": NANO,
    "m": 60 * NANO,
    "h": 3600 * NANO,
}
_DURATION: Final = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+", re.ASCII)
_TERM: Final = re.compile(r"([0-9.]+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)", re.ASCII)
_LONGEST: Final = 2**63 - 1
# Longer than any quantity or duration that is meant as one; a guard against arithmetic on huge numbers.
_MAX_TEXT: Final = 128


class Quantity(NamedTuple):
    """An amount in billionths, the format that it is written in, and its decimal places."""

    nano: int
    format: Format
    places: int = 0

    def __str__(self) -> str:
        """As the API server writes it: ``12Ki``, ``1500m``."""
        if self.format == "binary" and abs(self.nano) >= 1024 * NANO and self.nano % NANO == 0:
            whole, power = self.nano // NANO, 0
            while whole % 1024 == 0 and power < len(_BINARY) - 1:
                whole, power = whole // 1024, power + 1
            return f"{whole}{_BINARY[power]}"
        mantissa, exponent = self.nano, -9
        if not mantissa:
            return "0"
        while mantissa % 10 == 0:
            mantissa, exponent = mantissa // 10, exponent + 1
        while exponent % 3 or exponent > max(_DECIMAL):
            mantissa, exponent = mantissa * 10, exponent - 1
        if self.format == "exponent":
            return f"{mantissa}e{exponent}" if exponent else f"{mantissa}"
        return f"{mantissa}{_DECIMAL[exponent]}"


def quantity(text: str) -> Quantity | None:
    """The quantity that the text is; None if it is none."""
    # Long texts are not kept: whoever makes pods would choose how much memory that takes.
    return _quantity(text) if len(text) <= _MAX_TEXT else None


@lru_cache(maxsize=4096)
def _quantity(text: str) -> Quantity | None:
    try:
        amount, suffix = exact(text)
    except InvalidQuantity:
        return None
    nano = billionths(amount)
    places = max(0, -int(amount.as_tuple().exponent))
    if not suffix.endswith("i"):
        return Quantity(nano, "exponent" if suffix == "e" else "decimal", places)
    # A fraction of a binary unit is rounded to billionths, and one below a unit is written in thousandths.
    form: Format = "decimal" if 0 < nano < NANO else "binary"
    return Quantity(min(nano, _MOST_BINARY), form, 9 if "." in text else 0)


def billionths(amount: Decimal) -> int:
    """The amount in billionths, rounded away from zero."""
    return int(_EXACT.multiply(amount, Decimal(NANO)).to_integral_value(ROUND_UP, _EXACT))


def duration(text: str) -> int | None:
    """The nanoseconds of a Go duration like ``1h30m``; None if it is none. ``0`` is one, ``5`` is not."""
    return _duration(text) if len(text) <= _MAX_TEXT else None


@lru_cache(maxsize=4096)
def _duration(text: str) -> int | None:
    if text in ("0", "+0", "-0"):
        return 0
    if not _DURATION.fullmatch(text):
        return None
    nanoseconds = sum(int(Decimal(number) * _UNITS[unit]) for number, unit in _TERM.findall(text))
    if nanoseconds > _LONGEST:
        return None
    return -nanoseconds if text[0] == "-" else nanoseconds


def duration_text(nanoseconds: int) -> str:
    """The duration as Go writes it: ``1h30m0s``, ``1.5s``, ``20ms``."""
    if not nanoseconds:
        return "0s"
    sign, rest = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if rest < NANO:
        unit, size = next((unit, size) for unit, size in (("ms", 10**6), ("\u00b5s", 10**3), ("ns", 1)) if rest >= size)
        return f"{sign}{_plain(rest, size)}{unit}"
    minutes, seconds = divmod(rest, 60 * NANO)
    hours, minutes = divmod(minutes, 60)
    said = f"{_plain(seconds, NANO)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{said}"
    return f"{sign}{minutes}m{said}" if minutes else sign + said


def _plain(amount: int, size: int) -> str:
    whole, rest = divmod(amount, size)
    fraction = str(rest).rjust(len(str(size)) - 1, "0").rstrip("0") if rest else ""
    return f"{whole}.{fraction}" if fraction else f"{whole}"


def has_wildcard(text: str) -> bool:
    """Whether the text is a pattern rather than a name."""
    return "*" in text or "?" in text


def wildcard(pattern: str, text: str) -> bool:
    """Whether the whole text matches: ``*`` stands for any characters, ``?`` for exactly one."""
    if not has_wildcard(pattern):
        return pattern == text
    if pattern.strip("*") == "":
        return True
    # Greedy: only the last star can have to take more. So the time is bounded by the product of the lengths.
    position = at = 0
    star, resume = -1, 0
    while at < len(text):
        wanted = pattern[position : position + 1]
        if wanted == "*":
            star, resume = position, at
            position += 1
        elif wanted and wanted in ("?", text[at]):
            position, at = position + 1, at + 1
        elif star >= 0:
            resume += 1
            position, at = star + 1, resume
        else:
            return False
    return pattern[position:].strip("*") == ""
