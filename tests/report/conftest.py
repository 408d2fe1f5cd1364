"""Goldens: what a format writes, kept beside the tests."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

Golden = Callable[[str, str], None]


@pytest.fixture
def golden() -> Golden:
    """Compare a text with the file of this name; ``UPDATE_GOLDENS=1`` writes the file instead."""

    def compare(name: str, text: str) -> None:
        path = Path(__file__).parent / "golden" / name
        if os.environ.get("UPDATE_GOLDENS"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare
