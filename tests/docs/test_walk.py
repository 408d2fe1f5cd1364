"""docs/walk.md says what happens."""

import doctest
from pathlib import Path

import pytest


def test_every_block_of_the_walk_does_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parents[2]
    monkeypatch.chdir(root)
    result = doctest.testfile(str(root / "docs/walk.md"), module_relative=False, encoding="utf-8")
    assert result.attempted > 30
    assert result.failed == 0
