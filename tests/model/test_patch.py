"""Operations of JSON Patch, and keys as tokens of a JSON Pointer."""

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.model.patch import add, escape, unescape


@pytest.mark.parametrize(
    ("key", "token"),
    [
        ("nvidia.com/gpu", "nvidia.com~1gpu"),
        ("a~b", "a~0b"),
        ("~1", "~01"),
        ("/~", "~1~0"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_escape(key: str, token: str) -> None:
    assert escape(key) == token
    assert unescape(token) == key


@given(st.text(alphabet="~/01a", max_size=8))
def test_an_escaped_key_is_found_again(key: str) -> None:
    assert unescape(escape(key)) == key
    assert jsonpatch.apply_patch({key: 1}, [add(f"/{escape(key)}", 2)]) == {key: 2}


def test_add() -> None:
    assert add("/spec/tolerations/-", {"operator": "Exists"}) == {
        "op": "add",
        "path": "/spec/tolerations/-",
        "value": {"operator": "Exists"},
    }
