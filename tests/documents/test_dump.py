"""Values written as YAML."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.documents import Document, read
from app.documents.dump import dump

texts = st.text() | st.sampled_from(
    ["y", "NO", "on", "~", "null", "", "1e3", "0o17", "010", "1_000", "12:30:45", "2001-01-01", ".5", "<<", "=", "- a",
     "a: b", "a #b", "#", "!x", "&x", "*x", "%", "@", "`", "{", "a\n", "a\n\n", "\na", "  a\nb", "a\n  b", "\t",
     "a\r\nb", "\x85", "\u2028", "\ufeff", "\x7f", "😀", "한국어", "---", "...", "x" * 200 + " y"]
)  # fmt: skip
integers = st.integers(-(2**63), 2**63 - 1)
# What is a whole number is an integer for whoever reads it.
floats = st.floats(allow_nan=False, allow_infinity=False).filter(lambda value: not value.is_integer())
values = st.recursive(
    st.none() | st.booleans() | integers | floats | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@given(value=st.dictionaries(texts, values, min_size=1, max_size=4).filter(lambda value: "kind" not in value))
@pytest.mark.parametrize("indent_lists", [False, True])
def test_what_is_written_is_read_as_the_same(value: Any, indent_lists: bool) -> None:
    written = dump(value, indent_lists=indent_lists).encode()
    (document,) = read(written, "x.yaml")
    assert isinstance(document, Document), document
    assert document.value == value


def test_values_are_written_in_full_in_their_order_and_unfolded() -> None:
    shared = {"b": ["n", "x" * 200 + " y"], "a": "two\nlines\n"}
    body = '  b:\n  - "n"\n  - ' + "x" * 200 + " y\n  a: |\n    two\n    lines\n"
    assert dump({"one": shared, "two": shared}) == f"one:\n{body}two:\n{body}"
    assert dump({"z": [{"a": ["y"]}]}, indent_lists=True) == 'z:\n  - a:\n      - "y"\n'
