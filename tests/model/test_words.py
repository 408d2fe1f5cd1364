"""How values of pods appear in messages."""

import pytest

from app.model.words import quoted


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("web", '"web"'),
        ("", '""'),
        ('say "hi"', '"say \\"hi\\""'),
        ("naïve", '"naïve"'),
        ("two\nlines", '"two\\nlines"'),
        ("\x1b[31mred", '"\\u001b[31mred"'),
        ("\x9b31mred", '"\\u009b31mred"'),  # a control sequence in one character
        ("\x7f", '"\\u007f"'),
        ("abc\u202edef", '"abc\\u202edef"'),  # would turn the rest of the line around
        ("x" * 80, f'"{"x" * 80}"'),
        ("x" * 81, f'"{"x" * 79}…"'),
    ],
)
def test_quoted(value: str, shown: str) -> None:
    assert quoted(value) == shown


@pytest.mark.parametrize("value", ["\x00", "\x7f", "\x85", "\u2028", "\ud800", "\u200b"])
def test_what_cannot_be_printed_is_never_shown_as_it_is(value: str) -> None:
    assert quoted(f"a{value}b").isprintable()
