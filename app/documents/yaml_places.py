"""Nodes to places: where the values of a YAML text are in it."""

from collections.abc import Iterator
from contextlib import suppress

from yaml.nodes import Node, ScalarNode, SequenceNode

from app.documents.errors import TextError
from app.documents.locate import Place
from app.documents.regions import Text
from app.documents.yaml_nodes import AliasNode
from app.documents.yaml_values import is_merge, key_text, merge_sources


def place(text: Text, node: Node, key: Node | None = None) -> Place:
    """The place of a node, and of all that is inside it."""
    start, end = node.start_mark.index, node.end_mark.index
    span = None if key is None else (key.start_mark.index, key.end_mark.index)
    if isinstance(node, AliasNode):
        return Place(start, end, span, {}, opaque=True)
    if isinstance(node, ScalarNode):
        if span and start == end:
            return Place(*span, span, {})
        # libyaml lets a block scalar end where the next token starts.
        written = text.decoded[start:end].rstrip() if node.style in {"|", ">"} else ""
        return Place(start, start + len(written) if written else end, span, {})
    children: dict[str, Place] = {}
    last = start
    if isinstance(node, SequenceNode):
        for number, element in enumerate(node.value):
            children[str(number)] = found = place(text, element)
            last = found.end
    else:
        for name, value in node.value:
            found = place(text, value, name)
            last = max(found.end, name.end_mark.index)
            # Another item of the same List may have a key that is an error.
            with suppress(TextError):
                children.update(_merged(text, name, value) if is_merge(name) else {key_text(name): found})
    # A block collection ends with its last value; libyaml has it end at the next token, beyond comments.
    return Place(start, end if getattr(node, "flow_style", False) else last, span, children)


def _merged(text: Text, merge: Node, value: Node) -> Iterator[tuple[str, Place]]:
    for source in merge_sources(value):
        if isinstance(source, AliasNode):
            span = (merge.start_mark.index, merge.end_mark.index)
            alias = Place(source.start_mark.index, source.end_mark.index, span, {}, opaque=True)
            yield from ((name, alias) for name in _keys(source.value, set()))
        else:
            yield from place(text, source).children.items()


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
