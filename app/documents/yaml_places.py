"""Nodes to places: where the values of a YAML text are in it."""

from collections.abc import Iterator
from contextlib import suppress

from yaml.nodes import Node, ScalarNode, SequenceNode

from app.documents.errors import TextError
from app.documents.locate import Span
from app.documents.regions import Text
from app.documents.yaml_nodes import AliasNode
from app.documents.yaml_values import is_merge, key_text, merge_sources


class YamlPlace:
    """Where the value of a node is. What is inside it is looked at when it is asked for: a finding needs one way down.

    ``key`` is the span of its mapping key, if it has one.
    """

    __slots__ = ("_children", "_node", "_text", "key", "opaque")

    def __init__(self, text: Text, node: Node, key: Span | None = None) -> None:
        self.key = key
        self.opaque = isinstance(node, AliasNode)
        self._text = text
        self._node = node
        self._children: dict[str, YamlPlace] | None = None

    @property
    def start(self) -> int:
        """The offset of the first character; an empty value has that of its key."""
        return self.key[0] if self.key and self._empty else _start(self._node)

    @property
    def end(self) -> int:
        """The offset after the last character, without what libyaml counts to it: comments, the next line's start."""
        node = self._node
        start, end = _start(node), _end(node)
        if self.opaque:
            return end
        if isinstance(node, ScalarNode):
            if self.key and self._empty:
                return self.key[1]
            # libyaml lets a block scalar end where the next token starts.
            written = self._text.decoded[start:end].rstrip() if node.style in {"|", ">"} else ""
            return start + len(written) if written else end
        if getattr(node, "flow_style", False):
            return end
        # A block collection ends with its last value; libyaml has it end at the next token, beyond comments.
        if not node.value:
            return start
        if isinstance(node, SequenceNode):
            return YamlPlace(self._text, node.value[-1]).end
        name, value = node.value[-1]
        return max(YamlPlace(self._text, value, _span(name)).end, _end(name))

    @property
    def children(self) -> dict[str, "YamlPlace"]:
        """The places of the values inside, by key or index."""
        if self._children is None:
            self._children = {} if self.opaque or isinstance(self._node, ScalarNode) else dict(self._inside())
        return self._children

    @property
    def _empty(self) -> bool:
        return isinstance(self._node, ScalarNode) and _start(self._node) == _end(self._node)

    def _inside(self) -> Iterator[tuple[str, "YamlPlace"]]:
        text, node = self._text, self._node
        if isinstance(node, SequenceNode):
            for number, element in enumerate(node.value):
                yield str(number), YamlPlace(text, element)
            return
        for name, value in node.value:
            # Another item of the same List may have a key that is an error.
            with suppress(TextError):
                if is_merge(name):
                    yield from _merged(text, name, value)
                else:
                    yield key_text(name), YamlPlace(text, value, _span(name))


def _start(node: Node) -> int:
    offset: int = node.start_mark.index
    return offset


def _end(node: Node) -> int:
    offset: int = node.end_mark.index
    return offset


def _span(node: Node) -> Span:
    return _start(node), _end(node)


def _merged(text: Text, merge: Node, value: Node) -> Iterator[tuple[str, YamlPlace]]:
    for source in merge_sources(value):
        if isinstance(source, AliasNode):
            alias = YamlPlace(text, source, _span(merge))
            yield from ((name, alias) for name in _keys(source.value, set()))
        else:
            yield from YamlPlace(text, source).children.items()


def _keys(mapping: Node, seen: set[int]) -> Iterator[str]:
    # Once each: mappings that merge others twice over could otherwise name billions.
    if id(mapping) in seen:
        return
    seen.add(id(mapping))
    for key, value in mapping.value:
        if is_merge(key):
            for source in merge_sources(value):
                yield from _keys(source.value if isinstance(source, AliasNode) else source, seen)
        else:
            yield key_text(key)
