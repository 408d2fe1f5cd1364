"""The pictures in docs/: `GPUGATE_UPDATE_GOLDENS=1 pytest tests/board/test_screenshots.py` makes them again."""

import os
import struct
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ViewportSize

from tests.board.browsing import NARROW, watched
from tests.board.running import RunningBoard

DOCS = Path(__file__).resolve().parents[2] / "docs"
WIDE: ViewportSize = {"width": 1280, "height": 1120}
PICTURES: dict[str, tuple[str, ViewportSize, str]] = {
    "board-wide": ("/", WIDE, "light"),
    "board-dark": ("/", WIDE, "dark"),
    "board-narrow": ("/", NARROW, "light"),
    "board-namespace": ("/namespaces/research-vision", WIDE, "light"),
}
LARGEST = 250_000


@pytest.mark.parametrize("name", PICTURES)
def test_the_docs_have_a_picture(browser: Browser, board: RunningBoard, name: str) -> None:
    file = DOCS / f"{name}.png"
    path, viewport, scheme = PICTURES[name]
    if os.environ.get("GPUGATE_UPDATE_GOLDENS") == "1":
        with watched(browser, viewport=viewport, color_scheme=scheme) as seen:
            seen.page.goto(board.url + path)
            seen.page.screenshot(path=file)
    content = file.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", content[16:24]) == (viewport["width"], viewport["height"])
    assert len(content) < LARGEST
    assert f"({file.name})" in (DOCS / "board.md").read_text()
