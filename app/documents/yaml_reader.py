"""One YAML document to the objects in it."""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from yaml.nodes import MappingNode, Node, SequenceNode

from app.documents.collector import collector_off
from app.documents.document import Document, documents, is_list, members
from app.documents.errors import DocumentError, TextError
from app.documents.locate import Path, Place
from app.documents.regions import Text
from app.documents.yaml_nodes import compose, has_anchors
from app.documents.yaml_places import YamlPlace
from app.documents.yaml_values import Converter

# The line `items:` of a List in block style, and what follows up to its first item; the group is the indentation.
_ITEMS: Final = re.compile(rb"items:[ \t]*(?:#[^\n]*)?\r?\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*( *)-[ \t\r\n]")
# The end of the line before what follows the items: at the margin, and neither blank, comment nor item.
_AFTER: Final = re.compile(rb"\n(?=[^ \t#\r\n-]|-[^ \t\r\n])")


class YamlSource:
    """The text of one YAML document, and its nodes: places are found in them.

    Without ``root`` the text is composed again when a place is asked for: a whole List's nodes are too many to keep.
    """

    def __init__(self, text: Text, root: Node | None = None) -> None:
        self.text = text
        self._root = None if root is None else YamlPlace(text, root)

    def place(self, path: Path) -> Place:
        """The place of the value at a path that exists; of the alias, if that is what brings it."""
        if self._root is None:
            with collector_off():
                root = compose(self.text.data)
            assert root is not None, "a document was read from this text"
            self._root = YamlPlace(self.text, root)
        found = self._root
        for step in path:
            if not found.opaque:
                found = found.children[str(step)]
        return found


def read_yaml(text: Text, index: int) -> Iterator[Document | DocumentError]:
    """The objects of the one document in ``text``, nothing if it is empty; ``index`` is its number in the file.

    A List in block style without anchors, as ``kubectl get -o yaml`` prints it, is cut before it is read: one item is
    held at a time, with a text of its own to find places in.
    """
    done = 0
    cut = _cut(text)
    if cut is not None:
        for piece in cut.pieces:
            with collector_off():
                sequence = _compose_piece(piece)
                items = _convert(piece, Converter(piece), sequence) if sequence is not None else []
            if sequence is None:
                break  # the cut was wrong, or the YAML is: what comes of the whole is right
            for entry in _expand(YamlSource(piece, sequence), (), items, cut.holder, index, done):
                done += 1
                yield entry
        else:
            return
    try:
        with collector_off():
            value, line, root, elements = _read_whole(text)
    except TextError as error:
        yield text.error(error)
        return
    if elements is not None:
        for number, entry in enumerate(_expand(YamlSource(text), ("items",), elements, value, index, 0)):
            if number >= done:
                yield entry
    elif value is not None:
        yield from documents(YamlSource(text, root), value, index, line)


class _Element(NamedTuple):
    """An item of a List: its value or what is wrong with it, and the line that it starts on if that is known."""

    value: Any
    line: int | None


def _expand(
    source: YamlSource, path: Path, elements: list[_Element], holder: dict[str, Any], index: int, number: int
) -> Iterator[Document | DocumentError]:
    """The documents of the items at ``path``, in the List ``holder``; ``number`` is that of the first."""
    for position, (value, line) in enumerate(elements):
        if isinstance(value, TextError):
            yield source.text.error(value)
            number += 1
            continue
        for found in members(source, (*path, position), value, holder):
            if isinstance(found, DocumentError):
                yield found
            else:
                yield Document(source, found[0], index, number, found[1], line if found[1] is value else None)
            number += 1


def _read_whole(text: Text) -> tuple[Any, int | None, Node | None, list[_Element] | None]:
    """The value of a document, its line and nodes; of a List without its items, and these, to have the errors of each.

    Of a List no nodes are returned: the collector must not get to see so many.
    """
    root = compose(text.data)
    if root is None:
        return None, None, None, None
    converter = Converter(text)
    written = _written_items(root)
    if written is not None:
        pairs = [(key, SequenceNode(value.tag, []) if value is written else value) for key, value in root.value]
        holder = converter.value(MappingNode(root.tag, pairs, root.start_mark, root.end_mark))
        if is_list(holder):
            return holder, None, None, _convert(text, converter, written)
    return converter.value(root), _first_line(text, root), root, None


def _compose_piece(text: Text) -> SequenceNode | None:
    try:
        root = compose(text.data)
    except TextError:
        return None
    return root if isinstance(root, SequenceNode) else None


def _convert(text: Text, converter: Converter, sequence: SequenceNode) -> list[_Element]:
    elements = []
    for node in sequence.value:
        try:
            elements.append(_Element(converter.value(node), _first_line(text, node)))
        except TextError as error:
            elements.append(_Element(error, None))
            if converter.exhausted:
                break  # no alias of a later item could be read
    return elements


def _first_line(text: Text, node: Node) -> int | None:
    # Other lines are left to the table: libyaml counts line breaks that editors don't (U+2028).
    return text.line if node.start_mark.line == 0 else None


def _written_items(root: Node) -> SequenceNode | None:
    """The sequence in ``items``, unless an alias or a merge brings it."""
    if isinstance(root, MappingNode):
        for key, value in root.value:
            if key.value == "items" and isinstance(value, SequenceNode):
                return value
    return None


class _Cut(NamedTuple):
    """A List without its items, and the texts of these, one or more to a text."""

    holder: dict[str, Any]
    pieces: Iterator[Text]


def _cut(text: Text) -> _Cut | None:
    """The List in a text, cut before each item; None if the text is no List or can't be cut.

    A line that starts an item to the eye can be something else only inside a quoted scalar or a flow collection; the
    piece before it then ends inside one, which is an error. So when no piece has an error, the cuts are right.
    """
    data = text.data
    at = 0 if data.startswith(b"items:") else data.find(b"\nitems:") + 1
    match = _ITEMS.match(data, at)
    if match is None or has_anchors(data):
        return None
    first = match.start(1)
    after = _AFTER.search(data, first)
    end = len(data) if after is None else after.start() + 1
    holder = _holder(data[:first] + data[end:], len(data[:at].decode("utf-8", "replace")))
    if holder is None:
        return None
    return _Cut(holder, _pieces(text, first, end, re.compile(b"\n" + match[1] + rb"-[ \t\r\n]")))


def _holder(data: bytes, index: int) -> dict[str, Any] | None:
    """The value of a List whose items were cut out; ``index`` is where its key ``items`` must stand."""
    try:
        with collector_off():
            root = compose(data)
            keys = root.value if isinstance(root, MappingNode) else []
            if root is None or not any(k.start_mark.index == index and v.value == "" for k, v in keys):
                return None
            holder: dict[str, Any] = Converter(Text("", data, 1)).value(root)
            return holder if is_list(holder) else None
    except TextError:
        return None


def _pieces(text: Text, start: int, end: int, next_item: re.Pattern[bytes]) -> Iterator[Text]:
    line = text.line + text.data.count(b"\n", 0, start)
    while start < end:
        match = next_item.search(text.data, start, end)
        stop = end if match is None else match.start() + 1
        yield Text(text.name, text.data[start:stop], line)
        line += text.data.count(b"\n", start, stop)
        start = stop
