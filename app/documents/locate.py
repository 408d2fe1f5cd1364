"""JSON Pointers to places in a text."""

from collections.abc import Mapping
from typing import Protocol

from app.documents.regions import Region, Text
from app.model.patch import unescape

Path = tuple[str | int, ...]
"""The keys and indexes from a text's root to a value: ``("items", 0)``."""


Span = tuple[int, int]
"""Two offsets in a text, the end exclusive."""


class Place(Protocol):
    """Where a value is in its text."""

    @property
    def start(self) -> int:
        """The offset of its first character."""

    @property
    def end(self) -> int:
        """The offset after its last character."""

    @property
    def key(self) -> Span | None:
        """Where its mapping key is; None for a document and for an element of a sequence."""

    @property
    def children(self) -> Mapping[str, "Place"]:
        """The values inside, by key or by index ("0", "1" ...)."""

    @property
    def opaque(self) -> bool:
        """True if it stands for all that is inside it: an alias, whose content is written elsewhere."""


class Source(Protocol):
    """What a document was read from, kept so that places can be found when they are asked for."""

    @property
    def text(self) -> Text:
        """The part of the file that was read."""

    def place(self, path: Path) -> Place:
        """The place of the value at a path that exists."""


def locate(text: Text, root: Place, pointer: str, *, key: bool) -> Region:
    """The region of the value at an RFC 6901 pointer below ``root``; see ``Document.locate``."""
    if pointer and not pointer.startswith("/"):
        raise ValueError(f"{pointer!r} is no JSON Pointer: it is not empty and does not start with '/'")
    place = root
    for token in pointer.split("/")[1:]:
        if place.opaque:
            return text.region(place.start, place.end)
        child = place.children.get(unescape(token))
        if child is None:
            return text.region(*_label(place))
        place = child
    if key or not pointer:
        return text.region(*_label(place))
    return text.region(place.start, place.end)


def _label(place: Place) -> Span:
    if place.key is not None:
        return place.key
    first = next(iter(place.children.values()), None)
    return (first and first.key) or (place.start, place.end)
