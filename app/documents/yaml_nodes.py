"""YAML text to a tree of nodes, with their marks in the text."""

import codecs
import re
from typing import Any, Final, Never

from yaml._yaml import CParser, get_version
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.reader import ReaderError

from app.documents.errors import TextError

MAX_DEPTH: Final = 200
"""Levels of nesting. The schema in a CRD, the deepest thing that people apply, has about 60; libyaml stops at 1000."""

# Whatever may be an anchor. What stands before one is a space, a line break (YAML has three that aren't ASCII) or a
# flow indicator.
_ANCHOR: Final = re.compile(rb"(?:\A|[\s\[{,:\x85\xa8\xa9])&[\w-]")
_ALIAS: Final = re.compile(r"\*([\w-]+)", re.ASCII)
_BYTE_ORDER_MARK: Final = re.compile(rb"(?:\A|[\r\n]|\xc2\x85|\xe2\x80[\xa8\xa9])(\xef\xbb\xbf)")
# The composer in C recurses, and only libyaml 0.2.6 (PyYAML 6.0.4) stops before the stack ends.
_LIBYAML_LIMITS_NESTING: Final = get_version() >= (0, 2, 6)
_ENDS: Final = (MappingEndEvent, SequenceEndEvent)


class AliasNode(Node):
    """``*name``: where it stands, and the node that it stands for as its value."""

    id = "alias"


class _Parser(CParser):
    """libyaml's parser, composing nodes without resolving their tags.

    The tag of a scalar is the pair (plain, quoted), that of a collection a bool, unless the text has one: then it is
    that string. The composer in C asks these three methods of its subclass.
    """

    def resolve(self, _kind: type[Node], _value: str | None, implicit: Any) -> Any:
        return implicit

    def descend_resolver(self, _parent: Node | None, _index: Any) -> None:
        pass

    def ascend_resolver(self) -> None:
        pass


def compose(data: bytes) -> Node | None:
    """The document in UTF-8 ``data``, None if it is empty; TextError if it is not one document of good YAML."""
    mark = _BYTE_ORDER_MARK.search(data) if codecs.BOM_UTF8 in data else None
    if mark is not None:
        # libyaml skips it, goyaml takes it for text.
        raise TextError(
            "a byte order mark may only start a file", len(data[: mark.start(1)].decode("utf-8", "replace"))
        )
    try:
        # The composer in C forgets where aliases stand, and refuses an anchor that is defined again, which is allowed.
        if has_anchors(data) or not _LIBYAML_LIMITS_NESTING:
            return _EventComposer(data).document()
        return _Parser(data).get_single_node()
    except YAMLError as error:
        _fail(error, data)


def has_anchors(data: bytes) -> bool:
    """Whether a text may have anchors: no false negatives."""
    return b"&" in data and _ANCHOR.search(data) is not None


class _EventComposer:
    """Composes the nodes of a document from libyaml's events."""

    def __init__(self, data: bytes) -> None:
        self._next: Any = _Parser(data).get_event
        self._anchors: dict[str, Node] = {}  # those that are open have no end yet

    def document(self) -> Node | None:
        self._next()  # the start of the stream
        if not isinstance(self._next(), DocumentStartEvent):
            return None
        root = self._node(self._next(), MAX_DEPTH)
        self._next()  # the end of the document
        event = self._next()
        if not isinstance(event, StreamEndEvent):
            raise MarkedYAMLError(problem="but found another document", problem_mark=event.start_mark)
        return root

    def _node(self, event: Any, depth: int) -> Node:
        kind, anchor, start, end = event.__class__, event.anchor, event.start_mark, event.end_mark
        if kind is AliasEvent:
            return AliasNode("", self._target(anchor, start.index), start, end)
        tag = event.implicit if event.tag is None or event.tag == "!" else event.tag
        node: Node
        if kind is ScalarEvent:
            node = ScalarNode(tag, event.value, start, end, event.style)
        elif depth == 0:
            raise TextError(too_deep(), start.index)
        else:
            node = (MappingNode if kind is MappingStartEvent else SequenceNode)(tag, [], start, None, event.flow_style)
        if anchor is not None:
            self._anchors[anchor] = node
        if node.end_mark is None:
            while (event := self._next()).__class__ not in _ENDS:
                first = self._node(event, depth - 1)
                node.value.append((first, self._node(self._next(), depth - 1)) if kind is MappingStartEvent else first)
            node.end_mark = event.end_mark
        return node

    def _target(self, anchor: str, index: int) -> Node:
        target = self._anchors.get(anchor)
        if target is None:
            raise TextError(_no_anchor(anchor), index)
        if target.end_mark is None:
            raise TextError(f"the alias *{anchor} stands inside the value that it stands for", index)
        return target


def _code(character: str | int) -> int:
    return character if isinstance(character, int) else ord(character)


def _no_anchor(name: str) -> str:
    return f"no anchor &{name} stands before its alias *{name}"


def too_deep() -> str:
    """The message for a value that is nested too deeply."""
    return f"nested more than {MAX_DEPTH} levels deep"


def _fail(error: YAMLError, data: bytes) -> Never:
    """Raise libyaml's error as one with an offset, and in words that say what to do where it is known."""
    if isinstance(error, ReaderError):
        index = len(data[: error.position].decode("utf-8", "replace"))
        if "control" in error.reason:
            raise TextError(
                f"the control character U+{_code(error.character):04X} is not allowed; quote and escape it", index
            )
        raise TextError(f"not UTF-8: {error.reason}", index)
    assert isinstance(error, MarkedYAMLError)
    assert error.problem_mark is not None
    index, problem = error.problem_mark.index, error.problem or ""
    if "document start" in problem and data.lstrip().startswith(b"%"):
        raise TextError("kubectl reads no YAML directives (lines that start with '%')", index)
    if "another document" in problem or "document start" in problem:
        raise TextError("the document ends before this; a second one must be set off by a line '---'", index)
    rest = data.decode("utf-8", "replace")[index:]
    if "undefined alias" in problem and (alias := _ALIAS.match(rest)):
        raise TextError(_no_anchor(alias[1]), index)
    if rest.startswith("\t") and ("start any token" in problem or "violates indentation" in problem):
        raise TextError("a tab can't indent; use spaces", index)
    if "nesting" in problem:
        raise TextError(too_deep(), index)
    if error.context is None or error.context_mark is None:
        raise TextError(problem, index)
    raise TextError(f"{error.context}: {problem}", index, error.context_mark.index)
