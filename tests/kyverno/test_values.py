"""Quantities, durations and wildcards as Kyverno compares and computes them."""

import pytest

from app.kyverno.values import NANO, duration, duration_text, quantity, wildcard


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("0", "0"),
        ("1", "1"),
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("0.5", "500m"),
        ("1000", "1k"),
        ("1234567", "1234567"),
        ("100n", "100n"),
        ("0.1n", "1n"),
        ("12Ki", "12Ki"),
        ("1024Ki", "1Mi"),
        ("1.5Gi", "1536Mi"),
        ("1000Ki", "1000Ki"),
        ("512", "512"),
        ("0.5Ki", "512"),
        ("1e3", "1e3"),
        ("12e6", "12e6"),
        ("1E", "1E"),
        ("-12Ki", "-12Ki"),
        ("9000000Pi", "9223372036854775807"),
    ],
)
def test_a_quantity_is_written_as_the_api_server_writes_it(text: str, written: str) -> None:
    found = quantity(text)
    assert found is not None
    assert str(found) == written


@pytest.mark.parametrize(
    ("one", "other"), [("1Gi", "1024Mi"), ("1", "1000m"), ("1k", "1e3"), ("0.5", ".5"), ("1.", "1")]
)
def test_quantities_are_compared_by_their_amount(one: str, other: str) -> None:
    first, second = quantity(one), quantity(other)
    assert first is not None
    assert second is not None
    assert first.nano == second.nano


@pytest.mark.parametrize(
    "text", ["", " 1", "1 ", "1KB", "1ki", "one", "1h", "--1", "1.2.3", "0x1", "1e", "1" * 65, "1e99"]
)
def test_what_is_no_quantity(text: str) -> None:
    assert quantity(text) is None


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0", 0),
        ("60m", 3600 * NANO),
        ("1h", 3600 * NANO),
        ("1h30m5s", 5405 * NANO),
        ("1.5s", 3 * NANO // 2),
        (".5s", NANO // 2),
        ("-2ms", -2_000_000),
        ("+3us", 3000),
        ("3\u00b5s", 3000),
        ("3\u03bcs", 3000),
        ("7ns", 7),
    ],
)
def test_a_duration(text: str, nanoseconds: int) -> None:
    assert duration(text) == nanoseconds


@pytest.mark.parametrize("text", ["", "5", "1", "1d", "h", "1h ", "1 h", ".s", "1Mi", "3000000h", "1s" * 100])
def test_what_is_no_duration(text: str) -> None:
    assert duration(text) is None


@pytest.mark.parametrize(
    ("nanoseconds", "written"),
    [
        (0, "0s"),
        (1, "1ns"),
        (1500, "1.5\u00b5s"),
        (20_000_000, "20ms"),
        (NANO, "1s"),
        (3 * NANO // 2, "1.5s"),
        (90 * NANO, "1m30s"),
        (3600 * NANO, "1h0m0s"),
        (-5405 * NANO, "-1h30m5s"),
    ],
)
def test_a_duration_is_written_as_go_writes_it(nanoseconds: int, written: str) -> None:
    assert duration_text(nanoseconds) == written
    assert duration(written) == nanoseconds


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("", "", True),
        ("", "a", False),
        ("*", "", True),
        ("*", "anything", True),
        ("**", "", True),
        ("?*", "", False),
        ("?*", "a", True),
        ("?", "ab", False),
        ("?", "", False),
        ("a*", "abc", True),
        ("*c", "abc", True),
        ("a*c", "ac", True),
        ("a*c", "abd", False),
        ("*b*", "abc", True),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("nginx:*", "nginx:1.2", True),
        ("*:*", "nginx", False),
        ("*/nginx*:1.?", "docker.io/nginx-x:1.2", True),
        ("a", "a\n", False),
        ("[a]", "a", False),
        (".", "a", False),
    ],
)
def test_wildcards(pattern: str, text: str, matches: bool) -> None:
    assert wildcard(pattern, text) is matches


def test_a_pattern_of_many_stars_takes_no_more_steps_than_the_product_of_the_lengths() -> None:
    assert not wildcard("*a" * 100 + "b", "a" * 2000)
