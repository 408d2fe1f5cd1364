"""A browser for the run, and a board of the sample rollout for a module."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.board.browsing import ARGUMENTS
from tests.board.running import RunningBoard
from tests.board.samples import rollout
from tests.tools.chromium import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, installed now where it is missing and that is allowed.

    For a module only: while it is there, an event loop runs in this thread, and no test could start one of its own.
    """
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=str(chromium()), args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def snapshot_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample rollout as `gpugate scan` would have written it."""
    file = tmp_path_factory.mktemp("snapshot") / "scan.json"
    file.write_bytes(rollout().to_json())
    return file


@pytest.fixture(scope="module")
def board(snapshot_file: Path) -> Iterator[RunningBoard]:
    """A board of the sample rollout, for tests that leave it as it is."""
    with RunningBoard("--snapshot", str(snapshot_file)) as running:
        yield running
