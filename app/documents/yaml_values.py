"""Nodes to plain values, as kubectl's reader would have them."""

from typing import Any, Final, Never

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from app.documents.errors import TextError
from app.documents.regions import Text
from app.documents.yaml_nodes import MAX_DEPTH, AliasNode, too_deep
from app.documents.yaml_scalars import NUMERIC, WORDS, as_key, as_value, resolve, short_tag, tagged

ALIAS_BUDGET: Final = 100_000
"""Values that aliases may add to those that are written in a document: a kilobyte of them can stand for billions."""

_MERGE: Final = "tag:yaml.org,2002:merge"


class Converter:
    """Makes the values of one text. What an alias brings is a copy of its own."""

    __slots__ = ("_budget", "_text")

    def __init__(self, text: Text) -> None:
        self._text = text
        # A value that is written takes a byte at least, so only aliases can use this up.
        self._budget = len(text.data) + ALIAS_BUDGET

    @property
    def exhausted(self) -> bool:
        """True after aliases have brought too much."""
        return self._budget < 0

    def value(self, node: Node, depth: int = MAX_DEPTH) -> Any:
        """The value of a node; TextError for bad keys, unknown tags, numbers that JSON lacks, and what is too much."""
        if node.__class__ is ScalarNode:
            text: str = node.value
            # What most scalars are, without a call: text.
            if node.tag.__class__ is not str and (not node.tag[0] or (text[:1] not in NUMERIC and text not in WORDS)):
                return text
            return scalar(node)
        if node.__class__ is AliasNode:
            return self.value(node.value, depth)
        self._budget -= len(node.value)
        if self._budget < 0:
            raise TextError(f"aliases add more than {ALIAS_BUDGET} values", node.start_mark.index)
        if depth == 0:
            raise TextError(too_deep(), node.start_mark.index)
        if node.tag.__class__ is str:
            _check_tag(node)
        depth -= 1
        if node.__class__ is SequenceNode:
            return [self.value(element, depth) for element in node.value]
        made: dict[str, Any] = {}
        for key, value in node.value:
            name = key.value
            if (
                key.__class__ is ScalarNode
                and key.tag.__class__ is not str
                and (name[:1] not in NUMERIC and name not in WORDS)
            ):
                made[name] = self.value(value, depth)
            elif is_merge(key):
                return self._merged(node, depth)
            else:
                made[key_text(key)] = self.value(value, depth)
        if len(made) != len(node.value):
            self._check_keys(node)
        return made

    def _merged(self, node: Node, depth: int) -> dict[str, Any]:
        """A mapping with ``<<``. As in goyaml the later of two wins, be it merged or written."""
        self._check_keys(node)
        made: dict[str, Any] = {}
        for key, value in node.value:
            if is_merge(key):
                for source in merge_sources(value):
                    made.update(self.value(source, depth))
            else:
                made[key_text(key)] = self.value(value, depth)
        return made

    def _check_keys(self, node: Node) -> None:
        first: dict[str, int] = {}
        for key, _ in node.value:
            if is_merge(key):
                continue
            text, index = key_text(key), key.start_mark.index
            if text in first:
                line = self._text.position(first[text])[0]
                raise TextError(f'duplicate key "{text}", first on line {line}', index)
            first[text] = index


def scalar(node: Node) -> Any:
    """The value of a scalar that has a tag, or is plain and may be something else than text."""
    try:
        return as_value(_resolved(node))
    except ValueError as error:
        _fail(node, error)


def key_text(node: Node) -> str:
    """A mapping key, which is a string whatever it was in YAML; TextError for null, lists and mappings."""
    target = node.value if isinstance(node, AliasNode) else node
    if not isinstance(target, ScalarNode):
        raise TextError(f"a {_shape(target)} can't be a key", node.start_mark.index)
    try:
        return as_key(_resolved(target))
    except ValueError as error:
        _fail(node, error)


def is_merge(key: Node) -> bool:
    """Whether a key is ``<<`` and not quoted."""
    if key.value != "<<" or not isinstance(key, ScalarNode):
        return False
    plain: bool = key.tag == _MERGE if isinstance(key.tag, str) else key.tag[0]
    return plain


def merge_sources(node: Node) -> list[Node]:
    """The mappings that the value of a ``<<`` names, the one that counts most last."""
    target = node.value if isinstance(node, AliasNode) else node
    # The first in a list wins (yaml.org/type/merge.html).
    sources = target.value[::-1] if isinstance(target, SequenceNode) and target is node else [node]
    for source in sources:
        if not isinstance(source.value if isinstance(source, AliasNode) else source, MappingNode):
            raise TextError("<< takes a mapping or a list of mappings", source.start_mark.index)
    return list(sources)


def _resolved(node: Node) -> Any:
    if isinstance(node.tag, str):
        return tagged(node.tag, node.value)
    return resolve(node.value) if node.tag[0] else node.value


def _check_tag(node: Node) -> None:
    fitting = "seq" if isinstance(node, SequenceNode) else "map"
    if node.tag != f"tag:yaml.org,2002:{fitting}":
        raise TextError(f"the tag {short_tag(node.tag)} is unknown for a {_shape(node)}", node.start_mark.index)


def _shape(node: Node) -> str:
    return "list" if isinstance(node, SequenceNode) else "mapping"


def _fail(node: Node, error: ValueError) -> Never:
    raise TextError(str(error), node.start_mark.index) from None
