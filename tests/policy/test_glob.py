"""Patterns of names."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.policy.glob import Globs


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("team-a", "team-a", True),
        ("team-a", "team-ab", False),
        ("team-*", "team-", True),
        ("team-*", "team-a-b", True),
        ("team-*", "my-team-a", False),
        ("*", "", True),
        ("*", "anything/at.all", True),
        ("*-gpu", "a-gpu", True),
        ("a*b*c", "aXXbYYc", True),
        ("a*b*c", "aXXc", False),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("?", "", False),
        ("registry.example.com/proxyv2:*", "registry.example.com/proxyv2:1.30", True),
        ("registry.example.com/*", "registryXexample.com/a", False),
        ("a.c", "abc", False),
        ("[ab]*", "a1", False),
        ("[ab]*", "[ab]1", True),
        ("a\n*", "a\nb\nc", True),
        ("", "", True),
    ],
)
def test_matches(pattern: str, name: str, matches: bool) -> None:
    assert (name in Globs([pattern])) is matches
    assert (name in Globs(["other", pattern, "*-other"])) is matches


def test_empty() -> None:
    assert not Globs([])
    assert "a" not in Globs([])
    assert Globs(["a"])


@given(st.lists(st.text(alphabet="ab.*?", max_size=6), max_size=4), st.text(alphabet="ab.", max_size=8))
def test_is_what_it_says(patterns: list[str], name: str) -> None:
    def expected(pattern: str) -> bool:
        expression = "".join({"*": "[ab.]*", "?": "[ab.]"}.get(letter) or re.escape(letter) for letter in pattern)
        return re.fullmatch(expression, name) is not None

    assert (name in Globs(patterns)) is any(map(expected, patterns))


def test_stars_in_a_row_cost_nothing() -> None:
    start = time.perf_counter()
    assert "a" * 5000 not in Globs(["a" + "*" * 500 + "b"])
    assert time.perf_counter() - start < 1
