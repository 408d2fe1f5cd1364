"""Scalars and keys against what kubectl makes of them.

The tables were made with k8s.io/apimachinery v0.37.2 (util/yaml and unstructured), sigs.k8s.io/yaml v1.6.0 and
go.yaml.in/yaml/v2 v2.4.4, which kubectl v1.37.2 is built from.
"""

from typing import Any

import pytest

from app.documents import Document, DocumentError, read


def one(text: str) -> dict[str, Any]:
    (document,) = read(text.encode(), "x.yaml")
    assert isinstance(document, Document), document
    value: dict[str, Any] = document.value
    return value


WORDS: list[tuple[str, Any]] = [
    *((word, True) for word in ("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON")),
    *((word, False) for word in ("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF")),
    *((word, None) for word in ("", "~", "null", "Null", "NULL")),
    *((word, word) for word in ("yEs", "oN", "tRUE", "nUll", "none", "y1", "=", "<<", "~x", ".", "..", "nan", "inf")),
]
NUMBERS: list[tuple[str, Any]] = [
    ("0", 0),
    ("-0", 0),
    ("+12", 12),
    ("010", 8),
    ("0o10", 8),
    ("0O17", 15),
    ("09", 9),
    ("0o9", "0o9"),
    ("0_8", 8),
    ("08.5", 8.5),
    ("0x1F", 31),
    ("0X1f", 31),
    ("-0x1F", -31),
    ("0x_f", 15),
    ("0x", "0x"),
    ("0x1p4", "0x1p4"),
    ("0b11", 3),
    ("+0b1", 1),
    ("-0b1", -1),
    ("0b", "0b"),
    ("1_000", 1000),
    ("1__0", 10),
    ("1_", 1),
    ("_1", "_1"),
    ("5.", 5),
    (".5", 0.5),
    ("+.5", 0.5),
    ("-.5", -0.5),
    (".5e1", 5),
    ("._5", "._5"),
    (".4_3", 0.43),
    (".e1", ".e1"),
    ("1e3", 1000),
    ("1E3", 1000),
    ("1e+3", 1000),
    ("-1e-2", -0.01),
    ("1e", "1e"),
    ("1.0", 1),
    ("1.50", 1.5),
    ("-0.0", 0),
    ("1.5.5", "1.5.5"),
    ("1e400", "1e400"),
    ("1e-400", 0),
    ("1e18", 10**18),
    ("1e19", 1e19),
    ("1e21", 1e21),
    ("4611686018427387904.0", 4611686018427388000),
    ("9223372036854775807", 2**63 - 1),
    ("9223372036854775808", 2.0**63),
    ("18446744073709551615", 2.0**64),
    ("18446744073709551616", 2.0**64),
    ("-9223372036854775808", -(2**63)),
    ("-9223372036854775809", -(2.0**63)),
    ("0xffffffffffffffff", 2.0**64),
    ("0x10000000000000000", "0x10000000000000000"),
    ("9" * 5000, "9" * 5000),
    ("12:30:45", "12:30:45"),
    ("2001-01-01", "2001-01-01"),
    ("2001-01-01T10:00:00Z", "2001-01-01T10:00:00Z"),
    ("1.2.3.4", "1.2.3.4"),
    ("16Gi", "16Gi"),
    ("100m", "100m"),
]
STYLED: list[tuple[str, Any]] = [
    ('"12"', "12"),
    ("'yes'", "yes"),
    ("|\n  yes", "yes\n"),
    (">-\n  a\n  b", "a b"),
    ('"\\U0001F600"', "\U0001f600"),
    ("a #b", "a"),
    ("c#d", "c#d"),
    ("!!str 12", "12"),
    ("!!str", ""),
    ('!!int "12"', 12),
    ("!!int 1_0", 10),
    ("!!int 0b11", 3),
    ("!<tag:yaml.org,2002:int> 3", 3),
    ("!!float 1", 1),
    ("!!float 1.5", 1.5),
    ("!!float 0x10", 16),
    ("!!bool yes", True),
    ('!!bool "yes"', True),
    ('!!null ""', None),
    ("!!null ~", None),
    ("!!binary aGk=", "hi"),
    ("!!binary", ""),
    ("!!seq [a]", ["a"]),
    ("!!map {a: 1}", {"a": 1}),
    ("{a:b}", {"a:b": None}),
    ("{a: b, c}", {"a": "b", "c": None}),
    ("[a: b]", [{"a": "b"}]),
]


@pytest.mark.parametrize(("text", "expected"), WORDS + NUMBERS + STYLED, ids=lambda part: repr(part)[:40])
def test_value(text: str, expected: Any) -> None:
    value = one(f"v: {text}")["v"]
    assert value == expected
    assert type(value) is type(expected)


KEYS = [
    ("a", "a"),
    ("1", "1"),
    ("0x10", "16"),
    ("1_000", "1000"),
    ("1.5", "1.5"),
    ("1.0", "1"),
    ("0.1", "0.1"),
    ("1.10", "1.1"),
    ("123456.0", "123456"),
    ("1e6", "1e+06"),
    ("1e10", "1e+10"),
    ("1e-7", "1e-07"),
    ("0.0001", "0.0001"),
    ("16777217.0", "1.6777216e+07"),
    ("123456.789e3", "1.2345679e+08"),
    ("-2.5", "-2.5"),
    ("1e300", ".inf"),
    ("-1e300", "-.inf"),
    (".inf", ".inf"),
    (".nan", ".nan"),
    ("yes", "true"),
    ("off", "false"),
    ("y", "true"),
    ("2001-01-01", "2001-01-01"),
    ("''", ""),
    ('"null"', "null"),
    ('"<<"', "<<"),
    ("!!binary aGk=", "hi"),
    ('!!int "7"', "7"),
    ("&a b", "b"),
]


@pytest.mark.parametrize(("text", "expected"), KEYS)
def test_key(text: str, expected: str) -> None:
    assert one(f"{text} : {{q: 1}}") == {expected: {"q": 1}}


# Where kubectl refuses too: the message is ours. Where it would go on, see test_stricter_than_kubectl.
REFUSED = [
    ("v: .inf", 4, ".inf is not a number that JSON can hold"),
    ("v: -.INF", 4, "-.inf is not a number that JSON can hold"),
    ("v: .nan", 4, ".nan is not a number that JSON can hold"),
    ("v: !!null x", 4, "'x' is not a !!null"),
    ("v: !!int 1.5", 4, "'1.5' is not a !!int"),
    ("v: !!int y", 4, "'y' is not a !!int"),
    ("v: !!bool 1", 4, "'1' is not a !!bool"),
    ("v: !!float y", 4, "'y' is not a !!float"),
    ("v: !!binary '#'", 4, "!!binary must be base64 of UTF-8 text"),
    ("null: 1", 1, 'null can\'t be a key; write it in quotes, "null"'),
    ("~: 1", 1, 'null can\'t be a key; write it in quotes, "null"'),
    ("!!null '': 1", 1, 'null can\'t be a key; write it in quotes, "null"'),
    ("18446744073709551615: 1", 1, "18446744073709551615 is too large for a key; write it in quotes"),
    ("? [a]\n: 1", 3, "a list can't be a key"),
    ("{a: 1}: 1", 1, "a mapping can't be a key"),
]
STRICTER = [
    ("v: !Ref x", 4, "the tag !Ref is unknown for a scalar"),
    ("v: !Ref [x]", 4, "the tag !Ref is unknown for a list"),
    ("v: !!set {a}", 4, "the tag !!set is unknown for a mapping"),
    ("v: !!timestamp 2001-01-01", 4, "the tag !!timestamp is unknown for a scalar"),
    ("v: !!str [a]", 4, "the tag !!str is unknown for a list"),
]


@pytest.mark.parametrize(("text", "column", "message"), REFUSED + STRICTER)
def test_refused(text: str, column: int, message: str) -> None:
    (error,) = read(text.encode(), "x.yaml")
    assert isinstance(error, DocumentError)
    assert (error.line, error.column, error.message) == (1, column, message)


# The later of two wins, be it merged or written; in a list of mappings the first.
MERGES: list[tuple[str, dict[str, Any]]] = [
    ("<<: {a: 2}\na: 1", {"a": 1}),
    ("a: 1\n<<: {a: 2}", {"a": 2}),
    ("<<: [{a: 1}, {a: 2, b: 3}]", {"a": 1, "b": 3}),
    ("<<: {a: 1}\n<<: {b: 2}", {"a": 1, "b": 2}),
    ("a: 1\n<<: {<<: {a: 5}, b: 2}", {"a": 5, "b": 2}),
    ("x: &x {a: 1}\nb: {<<: *x, a: 2}\nc: {a: 3, <<: *x}", {"x": {"a": 1}, "b": {"a": 2}, "c": {"a": 1}}),
    ("x: &x {a: 1}\nc: {a: 3, <<: [*x]}", {"x": {"a": 1}, "c": {"a": 1}}),
    ("!!merge <<: {a: 1}", {"a": 1}),
]
ALIASES: list[tuple[str, dict[str, Any]]] = [
    ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
    ("a: &x 1\nb: &x 2\nc: *x", {"a": 1, "b": 2, "c": 2}),
    ("&k key: v\nz: *k", {"key": "v", "z": "key"}),
    ("&k a: 1\nb: {*k : w}", {"a": 1, "b": {"a": "w"}}),
    ("a: &x {&x b: 1}\nc: *x", {"a": {"b": 1}, "c": "b"}),
    ("a: x && y\nb: https://e/?a=1&b=2", {"a": "x && y", "b": "https://e/?a=1&b=2"}),
]


@pytest.mark.parametrize(("text", "expected"), MERGES + ALIASES)
def test_merges_and_aliases(text: str, expected: dict[str, Any]) -> None:
    assert one(text) == expected


def test_aliases_are_copies() -> None:
    value = one("a: &x {b: [1]}\nc: *x")
    value["a"]["b"].append(2)
    assert value["c"] == {"b": [1]}


@pytest.mark.parametrize("source", ["3", "[3]", "null", "", "x", "&x [{a: 1}]\nb: {<<: *x}"])
def test_merge_takes_mappings(source: str) -> None:
    (error,) = read(f"<<: {source}".encode(), "x.yaml")
    assert isinstance(error, DocumentError)
