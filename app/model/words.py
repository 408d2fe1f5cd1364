"""How values and counts appear in messages."""

from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Final

_LONGEST: Final = 80


def quoted(value: str) -> str:
    """The text in double quotes, cut to a length that fits a line, what cannot be printed escaped."""
    shown = value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…"
    return encode_basestring(shown) if shown.isprintable() else encode_basestring_ascii(shown)


def counted(count: int, noun: str) -> str:
    """The count with its noun, which takes an s: ``1 pod``, ``2 pods``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
