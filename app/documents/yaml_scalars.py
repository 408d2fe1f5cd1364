"""YAML scalars as kubectl reads them: sigs.k8s.io/yaml 1.6 over go.yaml.in/yaml/v2 2.4.4.

The rules are those of resolve.go there (YAML 1.1 with Go's number syntax: ``yes`` and ``y`` are true, ``010`` and
``0o10`` are 8, ``1_000`` is 1000, ``12:30:45`` and ``2001-01-01`` are strings), and then those of the JSON that kubectl
makes of the result: ``1e3`` and ``1.0`` are integers in it, ``.inf`` can't be written.
"""

import base64
import binascii
import math
import re
import struct
from decimal import Decimal
from typing import Any, Final

_WORDS: Final[dict[str, bool | float | None]] = {
    **dict.fromkeys(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"], True),
    **dict.fromkeys(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"], False),
    **dict.fromkeys(["", "~", "null", "Null", "NULL"], None),
    **dict.fromkeys([".nan", ".NaN", ".NAN"], math.nan),
    **dict.fromkeys([".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"], math.inf),
    **dict.fromkeys(["-.inf", "-.Inf", "-.INF"], -math.inf),
}

# A plain scalar is a string unless it is one of these words (``<<`` as a key), or starts like a number.
WORDS: Final = frozenset([*_WORDS, "<<"])
NUMERIC: Final = frozenset("+-.0123456789")

_INTEGER: Final = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))")
_BASES: Final = (16, 2, 8, 10)
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
# Underscores may stand between digits here, and anywhere in a number that starts otherwise.
_FRACTION: Final = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?")
_MAX_INT64: Final = 2**63 - 1
_MAX_UINT64: Final = 2**64 - 1
_LONGEST_INTEGER: Final = 70  # 64 binary digits, a sign and a prefix; Python refuses to read thousands of digits

_TAGS: Final = "tag:yaml.org,2002:"
_TYPES: Final[dict[str, type]] = {"int": int, "float": float, "bool": bool, "null": type(None)}


def resolve(text: str) -> Any:
    """A plain scalar as a Go value: bool, None, int, float or str. An int above int64 is a uint64 there."""
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if first == ".":
        return _float(text, text) if _FRACTION.fullmatch(text) else text
    if first not in "+-0123456789":
        return text
    digits = text.replace("_", "")
    match = _INTEGER.fullmatch(digits) if len(digits) <= _LONGEST_INTEGER else None
    if match is not None:
        sign, *groups = match.groups()
        base, number = next((b, n) for b, n in zip(_BASES, groups, strict=True) if n is not None)
        integer = int(sign + number, base)
        if -_MAX_INT64 <= integer + 1 <= _MAX_INT64 + 1 or (not sign and integer <= _MAX_UINT64):
            return integer
    if _FLOAT.fullmatch(digits):
        return _float(digits, text)
    return text


def _float(digits: str, text: str) -> float | str:
    number = float(digits)
    return text if math.isinf(number) else number  # what is out of range is text


def tagged(tag: str, text: str) -> Any:
    """A scalar with an explicit tag as a Go value; ``tag`` is the full one. ValueError says why it has none."""
    name = tag.removeprefix(_TAGS)
    if name == tag or name not in {"str", "int", "float", "bool", "null", "binary", "merge"}:
        raise ValueError(f"the tag {short_tag(tag)} is unknown for a scalar")
    if name in {"str", "merge"}:
        return text
    if name == "binary":
        try:
            return base64.b64decode("".join(text.split()), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            raise ValueError("!!binary must be base64 of UTF-8 text") from None
    value = resolve(text)
    if name == "float" and type(value) is int:
        return float(value)
    if type(value) is not _TYPES[name]:
        raise ValueError(f"{text!r} is not a !!{name}")
    return value


def short_tag(tag: str) -> str:
    """A tag as one writes it: ``!!binary``, ``!Ref``."""
    return "!!" + tag.removeprefix(_TAGS) if tag.startswith(_TAGS) else tag


def as_value(resolved: Any) -> Any:
    """A Go value as it is after kubectl's way through JSON. ValueError: JSON has no such number."""
    if type(resolved) is int:
        return resolved if resolved <= _MAX_INT64 else float(resolved)
    if type(resolved) is not float:
        return resolved
    if not math.isfinite(resolved):
        raise ValueError(f"{_go_float(resolved)} is not a number that JSON can hold")
    # encoding/json writes a float without a point up to 1e21, and what has none and fits is read as an int64.
    if abs(resolved) < 1e21 and resolved.is_integer():
        integer = int(Decimal(repr(resolved)))
        if -_MAX_INT64 <= integer + 1 <= _MAX_INT64 + 1:
            return integer
    return resolved


def as_key(resolved: Any) -> str:
    """A Go value as the key that sigs.k8s.io/yaml makes of it. ValueError: it makes none."""
    match resolved:
        case str():
            return resolved
        case bool():
            return "true" if resolved else "false"
        case int() if resolved <= _MAX_INT64:
            return str(resolved)
        case float():
            return _go_float(resolved)
        case None:
            raise ValueError('null can\'t be a key; write it in quotes, "null"')
        case _:
            raise ValueError(f"{resolved} is too large for a key; write it in quotes")


def _go_float(number: float) -> str:
    """strconv.FormatFloat(number, 'g', -1, 32), with YAML's names for what is not finite."""
    try:
        single: float = struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        single = math.copysign(math.inf, number)
    if math.isnan(single):
        return ".nan"
    if math.isinf(single):
        return ".inf" if single > 0 else "-.inf"
    # Nine digits tell any two float32 apart.
    shortest = next(
        text for p in range(9) if struct.pack("f", float(text := f"{single:.{p}e}")) == struct.pack("f", single)
    )
    mantissa, _, exponent = shortest.partition("e")
    if not -4 <= int(exponent) < 6:
        return shortest
    places = max(0, len(mantissa.lstrip("-").replace(".", "")) - 1 - int(exponent))
    return f"{float(shortest):.{places}f}"
