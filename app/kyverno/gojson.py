"""JSON as Go's encoding/json writes it, which is what text with a variable in it, and ``to_string``, hold."""

from decimal import Decimal
from typing import Any, Final

import orjson

# From here on Go writes the exponent (encoding/json, floatEncoder).
_LARGE: Final = 1e21
_SMALL: Final = 1e-6
_ESCAPED: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def marshal(value: Any) -> str:
    """The value as compact JSON with sorted keys; ``<``, ``>`` and ``&`` are escaped."""
    if isinstance(value, str):
        return _text(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return number(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{_text(key)}:{marshal(value[key])}" for key in sorted(value)) + "}"
    return "[" + ",".join(map(marshal, value)) + "]"


def number(value: float) -> str:
    """The shortest decimal that is the value: ``25`` for 25.0."""
    if value.is_integer() and abs(value) < _LARGE:
        return str(int(value))
    if _SMALL <= abs(value) < _LARGE:
        return format(Decimal(repr(value)), "f")
    mantissa, _, exponent = format(Decimal(repr(value)).normalize(), "e").partition("e")
    return f"{mantissa}e{exponent}"


def whole(value: float) -> float | int:
    """The number, as an int where it is one: JSON knows only numbers, and ``1.0`` is written ``1``."""
    if isinstance(value, int):
        return value
    return int(value) if value.is_integer() and abs(value) < _LARGE else float(value)


def _text(text: str) -> str:
    try:
        said = orjson.dumps(text).decode()
    except TypeError:  # half of a surrogate pair
        said = orjson.dumps(text.encode("utf-8", "replace").decode()).decode()
    for character, escape in _ESCAPED.items():
        if character in said:
            said = said.replace(character, escape)
    return said
