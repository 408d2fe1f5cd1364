"""`gpugate board` as a process of its own, on a port that the system chooses."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.controlplane.waiting import wait_for

_RUN = "from app.cli.main import run; run()"
_ROOT = Path(__file__).resolve().parents[2]


class RunningBoard:
    """``with RunningBoard("--snapshot", "scan.json") as board: board.url``; ``opened`` is what it printed."""

    def __init__(self, *arguments: str) -> None:
        self._command = [sys.executable, "-c", _RUN, "board", "--port", "0", *arguments]
        self._folder = tempfile.TemporaryDirectory(prefix="gpugate-board-")
        self._errors = Path(self._folder.name, "stderr")
        self.opened = ""

    def __enter__(self) -> Self:
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={**os.environ, "PYTHONPATH": str(_ROOT), "PYTHONWARNINGS": "error"},
                start_new_session=True,
            )
        try:
            self.opened = wait_for(self._address, message="the board listens")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._folder.cleanup()

    @property
    def url(self) -> str:
        """Where it is, without the key."""
        return self.opened.partition("?")[0].rstrip("/")

    def stop(self, number: int = signal.SIGINT) -> int:
        """Send the signal and wait for the end; the exit code."""
        if self._process.poll() is None:
            self._process.send_signal(number)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
                raise
        return self._process.returncode

    def errors(self) -> str:
        """What it wrote to standard error."""
        return self._errors.read_text()

    def _address(self) -> str | None:
        if self._process.poll() is not None:
            raise AssertionError(f"gpugate board ended with {self._process.returncode}: {self.errors()}")
        found = re.search(r"http://127\.0\.0\.1:\d+/\S*", self.errors())
        return found[0] if found else None
