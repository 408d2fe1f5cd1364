"""What a file is read as, and the place of each error."""

import codecs
import gc
from itertools import pairwise
from typing import Any

import pytest

from app.documents import Document, DocumentError, read


def shown(data: bytes, name: str = "f") -> list[Any]:
    """Documents as (index, item, line, value), errors as text."""
    return [(d.index, d.item, d.line, d.value) if isinstance(d, Document) else str(d) for d in read(data, name)]


DOCUMENTS: list[tuple[bytes, list[Any]]] = [
    (b"", []),
    (b"\n\n", []),
    (b"# nothing\n", []),
    (b"---\n", []),
    (b"null\n", []),
    (b"a: 1", [(1, None, 1, {"a": 1})]),
    (b"---\na: 1\n", [(1, None, 2, {"a": 1})]),
    (b"# licence\n---\na: 1\n", [(1, None, 3, {"a": 1})]),
    (b"---\n# Source: x.yaml\na: 1\n---\nb: 2\n---\n", [(1, None, 3, {"a": 1}), (2, None, 5, {"b": 2})]),
    (b"a: 1\n---\n\n--- # none\n# none\n---\nb: 2", [(1, None, 1, {"a": 1}), (4, None, 7, {"b": 2})]),
    (b"a: 1\n...\n---\nb: 2\n", [(1, None, 1, {"a": 1}), (2, None, 4, {"b": 2})]),
    (b"a: |\n  x\n---\nb: '\n  ---'\n", [(1, None, 1, {"a": "x\n"}), (2, None, 4, {"b": " ---"})]),
    (b"a: 1\r\nb: |\r\n  x\r\n---\r\nc: 3\r\n", [(1, None, 1, {"a": 1, "b": "x\n"}), (2, None, 5, {"c": 3})]),
    (b"a: |\n  no newline at the end", [(1, None, 1, {"a": "no newline at the end\n"})]),
    (codecs.BOM_UTF8 + b"a: 1\n", [(1, None, 1, {"a": 1})]),
    (codecs.BOM_UTF16_LE + "a: é\n---\nb: 😀".encode("utf-16-le"),
     [(1, None, 1, {"a": "é"}), (2, None, 3, {"b": "😀"})]),
    (codecs.BOM_UTF16_BE + "a: é".encode("utf-16-be"), [(1, None, 1, {"a": "é"})]),
    ("# \u2028\na: 1\n".encode(), [(1, None, 2, {"a": 1})]),
    (b'{"a": 1}', [(1, None, 1, {"a": 1})]),
    (b'\n {"a": 1}\n{"b": 2} {}\n', [(1, None, 2, {"a": 1}), (2, None, 3, {"b": 2}), (3, None, 3, {})]),
    (b'{"a": 1}\n---\nb: 2\n', [(1, None, 1, {"a": 1}), (2, None, 3, {"b": 2})]),
    (b"{a: 1, b: [c]}", [(1, None, 1, {"a": 1, "b": ["c"]})]),
    (b'{"a": 1,} # YAML\n', [(1, None, 1, {"a": 1})]),
    (b'{"a": "\\ud83d\\ude00", "b": 1e3, "c": -0, "d": 18446744073709551616}',
     [(1, None, 1, {"a": "😀", "b": 1000.0, "c": 0, "d": 2.0**64})]),
]  # fmt: skip


@pytest.mark.parametrize(("data", "expected"), DOCUMENTS, ids=lambda part: repr(part)[:50])
def test_documents(data: bytes, expected: list[Any]) -> None:
    assert shown(data) == expected


def bomb() -> bytes:
    lines = ["a: &a [x,x,x,x,x,x,x,x,x,x]"]
    lines += [f"{b}: &{b} [{','.join([f'*{a}'] * 10)}]" for a, b in pairwise("abcdefghi")]
    return "\n".join(lines).encode()


DEEP = "nested more than 200 levels deep"
SEPARATE = "the document ends before this; a second one must be set off by a line '---'"
BINARY = "not text: found a NUL byte, as in a binary file, or in UTF-16 without a byte order mark"
ERRORS: list[tuple[bytes, list[Any]]] = [
    (b"a: 1\na: 2\n", ['f:2:1: duplicate key "a", first on line 1']),
    (b"x:\n  b: 1\n  c: 2\n  'b': 3\n", ['f:4:3: duplicate key "b", first on line 2']),
    (b"\n---\nx: {yes: 1,\n true: 2}\n", ['f:4:2: duplicate key "true", first on line 3']),
    (b"1: a\n'1': b\n", ['f:2:1: duplicate key "1", first on line 1']),
    (b"a: 1\n<<: {b: 2}\na: 2\n", ['f:3:1: duplicate key "a", first on line 1']),
    (b'{"a": 1,\n "b": {"c": 1, "c": 2}}', ['f:2:16: duplicate key "c", first on line 2']),
    (b'{"a": 1}{"b": 1,\n "\\u0062": 2}', ['f:2:2: duplicate key "b", first on line 1']),
    (b"- a\n", ["f:1:1: an object was expected, found a list"]),
    (b'[{"kind": "Pod"}]', ["f:1:1: an object was expected, found a list"]),
    (b"# c\ntext\n", ["f:2:1: an object was expected, found a string"]),
    (b"12", ["f:1:1: an object was expected, found a number"]),
    (b"yes", ["f:1:1: an object was expected, found a boolean"]),
    (b'{} "x"', [(1, None, 1, {}), "f:1:4: an object was expected, found a string"]),
    (b"\ta: 1\n", ["f:1:1: a tab can't indent; use spaces"]),
    (b"a:\n  b: 1\n\tc: 1\n", ["f:3:1: a tab can't indent; use spaces"]),
    (b"a: \x00b\n", [f"f:1:4: {BINARY}"]),
    (b"a: b\n---\n\x00\n---\n\x00", [f"f:3:1: {BINARY}"]),
    (b"a: \x01b\n", ["f:1:4: the control character U+0001 is not allowed; quote and escape it"]),
    (b"#" * 8000 + b"\n\x00", ["f:2:1: the control character U+0000 is not allowed; quote and escape it"]),
    (b"a: {{ b }}\n---\nb: 1\n---\n{{ c }}\n", [
        "f:1:5: a Helm template that was not rendered, it seems (as YAML: a mapping can't be a key)",
        (2, None, 3, {"b": 1}),
    ]),
    ("é😀: a\x07b\n".encode(), ["f:1:6: the control character U+0007 is not allowed; quote and escape it"]),
    (b"ok: 1\n\xc3(: 2\n", ["f:2:2: not UTF-8: invalid trailing UTF-8 octet"]),
    ("é: \N{LATIN SMALL LETTER E WITH ACUTE}".encode() + b"\xff", ["f:1:5: not UTF-8: invalid leading UTF-8 octet"]),
    (b'{"a": "\xff"}', ["f:1:8: not UTF-8: invalid leading UTF-8 octet"]),
    (b"\xff\xfea\x00:", ["f:1:1: not UTF-16: truncated data at byte 4"]),
    (b"a: 1\n\xef\xbb\xbfb: 2\n", ["f:2:1: a byte order mark may only start a file"]),
    (b"a: b: c\n", ["f:1:5: mapping values are not allowed in this context"]),
    (b"a: [1, 2\nb: 3\n", [
        "f:2:2: while parsing a flow sequence: did not find expected ',' or ']' (it starts on line 1)"]),
    (b"a: 'x\n\n", ["f:3:1: while scanning a quoted scalar: found unexpected end of stream (it starts on line 1)"]),
    (b"a: @x\n", ["f:1:4: while scanning for the next token: found character that cannot start any token"]),
    (b"a: 1\n...\nb: 2\n", [f"f:3:1: {SEPARATE}"]),
    (b"a: &x 1\n...\n---x\n", [(1, None, 1, {"a": 1}), "f:3:4: only a comment may follow '---' on its line"]),
    (b"{}\n...\nb: &x 2\n", [f"f:3:1: {SEPARATE}"]),
    (b"--- {a: 1}\n", ["f:1:5: only a comment may follow '---' on its line"]),
    (b"%YAML 1.1\n", ["f:2:1: kubectl reads no YAML directives (lines that start with '%')"]),
    (b"a: *x\n", ["f:1:4: no anchor &x stands before its alias *x"]),
    (b"a: &y 1\nb: *x\n", ["f:2:4: no anchor &x stands before its alias *x"]),
    (b"a: &x\n  b: [*x]\n", ["f:2:7: the alias *x stands inside the value that it stands for"]),
    (bomb(), ["f:1:4: aliases add more than 100000 values"]),
    (b"a: " + b"[" * 200 + b"]" * 200, [f"f:1:203: {DEEP}"]),
    (b"a: &x " + b"[" * 200 + b"]" * 200, [f"f:1:206: {DEEP}"]),
    (b"a: " + b"- " * 100_000, ["f:1:4: block sequence entries are not allowed in this context"]),
    (b'{"a": ' + b"[" * 200 + b"]" * 200 + b"}", [f"f:1:1: {DEEP}"]),
    (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", [f"f:1:1: {DEEP}"]),
    (b'{"a":\n 1e400}', ["f:2:2: the number 1e400 is too large"]),
    (b'{"a":\n "\\ud83d"}', ["f:2:3: an escape is half of a surrogate pair"]),
    (b'{"a":\n "\\ude00"}', ["f:2:3: an escape is half of a surrogate pair"]),
    (b"a: 1\n---\nb: [\n---\nc: 3\n", [
        (1, None, 1, {"a": 1}),
        "f:4:1: while parsing a flow node: did not find expected node content",
        (3, None, 5, {"c": 3}),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("data", "expected"), ERRORS, ids=lambda part: repr(part)[:50])
def test_errors(data: bytes, expected: list[Any]) -> None:
    assert shown(data) == expected


@pytest.mark.parametrize("data", [b"a: " + b"[" * 100_000, b"- " * 100_000, b"? " * 100_000, b"{a: " * 100_000])
def test_the_stack_is_safe(data: bytes) -> None:
    (error,) = read(data, "f")
    assert isinstance(error, DocumentError)
    assert error.message == DEEP


def test_json_files_have_json_errors() -> None:
    assert shown(b'{"a" 1}', "f.json") == ["f.json:1:6: not JSON: expecting ':' delimiter"]
    assert shown(b'{"a": NaN}', "f.json") == ["f.json:1:7: not JSON: NaN"]
    assert shown(b"a: 1", "f.json") == [(1, None, 1, {"a": 1})]


def test_error_attributes() -> None:
    (error,) = read(b"a: 1\na: 2", "dir/x.yaml")
    assert isinstance(error, DocumentError)
    assert (error.name, error.line, error.column) == ("dir/x.yaml", 2, 1)
    assert str(error) == f"dir/x.yaml:2:1: {error.message}"


@pytest.mark.parametrize("data", [b"a: &x 1\n", b"a: 1\n", b"a: [\n", b"{}", b"a: 1\na: 2\n"])
def test_collector_is_left_as_it_was(data: bytes) -> None:
    assert gc.isenabled()
    list(read(data, "x"))
    assert gc.isenabled()
    gc.disable()
    try:
        list(read(data, "x"))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_reading_is_lazy() -> None:
    documents = read(b"a: 1\n---\nb: [\n", "x")
    first = next(documents)
    assert isinstance(first, Document)
    assert isinstance(next(documents), DocumentError)
