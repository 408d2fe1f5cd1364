"""A List as ``kubectl get -o json`` prints it, read one item at a time."""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from app.documents.document import Document, is_list, members
from app.documents.errors import DocumentError, TextError
from app.documents.json_reader import read_json
from app.documents.regions import Text

# The line `"items": [` of a List that is indented, and what follows up to its first item; the groups are the
# indentations of both.
_ITEMS: Final = re.compile(rb'\n([ \t]+)"items": ?\[\r?\n([ \t]+)\{')


class CutList(NamedTuple):
    """A List without its items, and the texts of these, one each."""

    holder: dict[str, Any]
    pieces: Iterator[Text]


def cut_list(text: Text) -> CutList | None:
    """The List in a text, cut before each item; None if the text is no List or can't be cut.

    No string in JSON goes over a line. So where each piece is one JSON value, and so is what is left without them, the
    cuts are right, however the text is indented.
    """
    data = text.data
    match = _ITEMS.search(data)
    if match is None:
        return None
    first, end = match.start(2), data.rfind(b"\n" + match[1] + b"]") + 1
    holder = _holder(data, first, end) if end > first else None
    return None if holder is None else CutList(holder, _pieces(text, first, end, match[2]))


def read_items(cut: CutList, index: int) -> Iterator[Document | DocumentError | None]:
    """The documents in a List that was cut; None, and then nothing, where the cut was wrong or the JSON is."""
    number = 0
    for piece in cut.pieces:
        try:
            values = read_json(piece)
        except TextError:
            values = []
        if len(values) != 1:
            yield None
            return
        source, value = values[0]
        for found in members(source, (), value, cut.holder):
            if isinstance(found, DocumentError):
                yield found
            else:
                yield Document(source, found[0], index, number, found[1], piece.line if found[1] is value else None)
            number += 1


def _holder(data: bytes, first: int, end: int) -> dict[str, Any] | None:
    """The value of a List whose items, from ``first`` to ``end``, were cut out."""
    try:
        # Only one level deep can the text before the items be ended like this.
        read_json(Text("", data[:first] + b"]}", 1))
        ((_, holder),) = read_json(Text("", data[:first] + data[end:], 1))
    except (TextError, ValueError):
        return None
    return holder if is_list(holder) and holder["items"] == [] else None


def _pieces(text: Text, start: int, end: int, indent: bytes) -> Iterator[Text]:
    """The texts of the items, without the commas between them."""
    data, line = text.data, text.line + text.data.count(b"\n", 0, start)
    between = re.compile(b"\n" + indent + rb"\}(,)\r?\n(?=" + indent + rb"\{)")
    while start < end:
        match = between.search(data, start, end)
        stop, following = (end, end) if match is None else (match.start(1), match.end())
        yield Text(text.name, data[start:stop], line)
        line += data.count(b"\n", start, following)
        start = following
