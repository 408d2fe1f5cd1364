"""How values of pods appear in messages."""

from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Final

_LONGEST: Final = 80


def quoted(value: str) -> str:
    """The text in double quotes, cut to a length that fits a line, what cannot be printed escaped."""
    shown = value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…"
    return encode_basestring(shown) if shown.isprintable() else encode_basestring_ascii(shown)
