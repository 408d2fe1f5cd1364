"""What was written is read, and every scalar is found where it stands."""

import json
from collections.abc import Iterator
from typing import Any

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from app.documents import Document, Region, read
from app.documents.yaml_scalars import resolve

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number.is_integer())
    | st.text()
    | st.sampled_from(
        ["yes", "y", "0o10", "1e3", "~", "<<", "---", "- a", "a: b", "#", "&a", "*a", "!a", "a\n---\nb", "\ufeff"]
    )
)
KEYS = st.text() | st.sampled_from(["a/b", "~", "~1", "0", "items", "<<", "y"])
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4))
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=5)


class Dumper(yaml.CSafeDumper):
    """Quotes what Go's reader of YAML takes for something else than text."""


def represent_text(dumper: Dumper, text: str) -> yaml.ScalarNode:
    style = None if isinstance(resolve(text), str) and text != "<<" else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


Dumper.add_representer(str, represent_text)


def scalars(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from scalars(inner, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from scalars(inner, f"{pointer}/{number}")
    else:
        yield pointer, value


def cut(text: str, region: Region) -> str:
    lines = text.split("\n")
    start, end = (sum(len(line) + 1 for line in lines[: n - 1]) for n in (region.line, region.end_line))
    return text[start + region.column - 1 : end + region.end_column - 1]


def only(text: str, name: str) -> Document:
    (document,) = read(text.encode(), name)
    assert isinstance(document, Document), document
    return document


@given(value=OBJECTS, flow=st.booleans(), style=st.sampled_from([None, '"', "'"]), unicode=st.booleans())
@example(value={"a": [[{}], []], "b": {"c": "x\ny "}}, flow=False, style=None, unicode=True)
def test_yaml(value: dict[str, Any], flow: bool, style: str | None, unicode: bool) -> None:
    text = yaml.dump(
        value, Dumper=Dumper, default_flow_style=flow, default_style=style, allow_unicode=unicode, width=20
    )
    document = only(text, "x.yaml")
    assert document.value == value
    for pointer, scalar in scalars(value):
        assert only(f"v: {cut(text, document.locate(pointer))}", "x").value == {"v": scalar}


@given(value=OBJECTS, indent=st.sampled_from([None, 1]), ascii_only=st.booleans())
def test_json(value: dict[str, Any], indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    document = only(text, "x.json")
    assert document.value == value
    for pointer, scalar in scalars(value):
        assert json.loads(cut(text, document.locate(pointer))) == scalar


@given(value=OBJECTS.map(lambda value: {"kind": "X", **value}), unicode=st.booleans())
def test_items_of_a_list(value: dict[str, Any], unicode: bool) -> None:
    text = yaml.dump({"kind": "List", "items": [value, value]}, Dumper=NoAliases, allow_unicode=unicode, width=20)
    first, second = read(text.encode(), "x")
    for number, document in enumerate((first, second)):
        assert isinstance(document, Document)
        if not value.get("kind", "").endswith("List"):
            assert (document.item, document.value) == (number, value)


@given(st.binary() | st.text(alphabet="ab:-{}[],\"'&*!|>?#% \n\t\r\u2028<1y").map(str.encode))
def test_any_bytes_are_read_without_a_crash(data: bytes) -> None:
    for found in read(data, "x"):
        if isinstance(found, Document):
            for pointer, _ in scalars(found.value):
                region = found.locate(pointer)
                assert (region.line, region.column) <= (region.end_line, region.end_column)
                assert found.line >= 1
        else:
            assert found.line >= 1
            assert found.column >= 1


class NoAliases(Dumper):
    """Writes the same value twice rather than an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        return True
