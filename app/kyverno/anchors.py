"""Anchors: what the key of a pattern asks beside the value under it.

A key ``=(privileged)`` is an anchor with the modifier ``=`` on the field ``privileged``.
"""

import re
from functools import lru_cache
from typing import Final, Literal, NamedTuple, cast

Modifier = Literal["", "=", "X", "^", "<", "+"]

CONDITION: Final = ""
"""``(key)``: what is beside it is asked only where this matches."""
EQUALITY: Final = "="
"""``=(key)``: where the key is there, it must match."""
NEGATION: Final = "X"
"""``X(key)``: the key must not be there."""
EXISTENCE: Final = "^"
"""``^(key)``: each pattern of the list must match an element of the list."""
GLOBAL: Final = "<"
"""``<(key)``: the rule is asked only where this matches."""
ADDITION: Final = "+"
"""``+(key)``: in a patch, add the key if it is not there."""

_ANCHOR: Final = re.compile(r"([+<=X^])?\((.+)\)", re.DOTALL)


class Anchor(NamedTuple):
    """A modifier and the key that it stands around."""

    modifier: Modifier
    key: str

    def __str__(self) -> str:
        return f"{self.modifier}({self.key})"


@lru_cache(maxsize=4096)
def parse(key: str) -> Anchor | None:
    """The anchor that a key is; None for a plain key."""
    found = _ANCHOR.fullmatch(key)
    return Anchor(cast("Modifier", found[1] or ""), found[2].strip()) if found else None


def plain(key: str) -> str:
    """The key without its anchor."""
    anchor = parse(key)
    return anchor.key if anchor else key
