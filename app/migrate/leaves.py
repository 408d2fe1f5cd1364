"""The scalars of a pattern or patch, with the way to each."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from app.kyverno import anchors

ITEM: Final = "[]"
"""Stands for the elements of a list in a path."""

CONTAINERS: Final = ("containers", "initContainers", "ephemeralContainers")


class Leaf(NamedTuple):
    """A scalar (or an empty map or list), the keys to it without anchors, and the anchors' modifiers among them."""

    path: tuple[str, ...]
    value: Any
    modifiers: tuple[str, ...]

    @property
    def last(self) -> str | None:
        """The modifier of the last key; None if it is plain."""
        return self.modifiers[-1] if self.modifiers and self.modifiers[-1] != "plain" else None

    @property
    def in_container(self) -> tuple[str, ...] | None:
        """The path inside a container; None for a leaf elsewhere."""
        if len(self.path) > 3 and self.path[0] == "spec" and self.path[1] in CONTAINERS and self.path[2] == ITEM:
            return self.path[3:]
        return None

    def __str__(self) -> str:
        return ".".join(self.path).replace(f".{ITEM}", ITEM)


def leaves(value: Any, path: tuple[str, ...] = (), modifiers: tuple[str, ...] = ()) -> Iterator[Leaf]:
    """All leaves of a pattern, in its order."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            anchor = anchors.parse(key)
            modifier = anchor.modifier if anchor else "plain"
            yield from leaves(item, (*path, anchor.key if anchor else key), (*modifiers, modifier))
    elif isinstance(value, list) and value:
        for item in value:
            yield from leaves(item, (*path, ITEM), (*modifiers, "plain"))
    else:
        yield Leaf(path, value, modifiers)
