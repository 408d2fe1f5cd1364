"""Semantic versions and their ranges."""

from itertools import pairwise

import pytest

from app.kyverno.semver import InvalidRange, version, version_range

# The order that semver.org gives as its example.
ORDER = [
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
]


@pytest.mark.parametrize("text", ["v1.2.3", "1.2", "1", "01.2.3", "1.2.3-01", "1.2.3-", "1.2.3+", "", "1.2.3 "])
def test_what_is_no_version(text: str) -> None:
    assert version(text) is None


@pytest.mark.parametrize(("lower", "higher"), list(pairwise(ORDER)))
def test_the_order_of_versions(lower: str, higher: str) -> None:
    found = version(lower)
    assert found is not None
    assert version_range(f"<{higher}")(found)
    assert not version_range(f">={higher}")(found)


@pytest.mark.parametrize(
    ("text", "holds", "holds_not"),
    [
        ("1.2.3", ["1.2.3", "1.2.3+build"], ["1.2.4"]),
        ("=1.2.3", ["1.2.3"], ["1.2.2"]),
        ("==1.2.3", ["1.2.3"], ["1.2.2"]),
        ("!1.2.3", ["1.2.4"], ["1.2.3"]),
        ("!=1.2.3", ["1.2.4"], ["1.2.3"]),
        (">=1.2.3 <2.0.0", ["1.2.3", "1.9.9"], ["1.2.2", "2.0.0"]),
        (">= 1.2.3", ["1.2.3"], ["1.2.2"]),
        ("<1.0.0 || >=3.0.0", ["0.9.0", "3.0.0"], ["1.0.0", "2.9.9"]),
        ("1.x", ["1.0.0", "1.9.9"], ["0.9.9", "2.0.0"]),
        ("1.2.x", ["1.2.0", "1.2.9"], ["1.3.0", "1.1.9"]),
        (">1.2.x", ["1.3.0"], ["1.2.9"]),
        (">=1.2.x", ["1.2.0"], ["1.1.9"]),
        ("<1.2.x", ["1.1.9"], ["1.2.0"]),
        ("<=1.2.x", ["1.2.9"], ["1.3.0"]),
        ("!1.2.x", ["1.3.0", "1.1.0"], ["1.2.5"]),
    ],
)
def test_a_range(text: str, holds: list[str], holds_not: list[str]) -> None:
    found = version_range(text)
    assert [each for each in holds if not found(version(each))] == []  # type: ignore[arg-type]
    assert [each for each in holds_not if found(version(each))] == []  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "||", "1.2", ">", "~1.2.3", "1.2.3 ||", ">1.2.3 < x", "a.b.c"])
def test_what_is_no_range(text: str) -> None:
    with pytest.raises(InvalidRange):
        version_range(text)
