"""Running a command as its entry point does, in this process."""

import io
import json
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from app.cli.main import run


class Outcome(NamedTuple):
    """What a command left: its exit code and what it wrote."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)


Gpugate = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working folder, and an environment that says nothing."""
    monkeypatch.chdir(tmp_path)
    for name in ("GPUGATE_POLICY", "NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    handler = signal.getsignal(signal.SIGPIPE)
    yield tmp_path
    signal.signal(signal.SIGPIPE, handler)


@pytest.fixture
def gpugate(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Gpugate:
    """Run ``gpugate`` with these arguments and this standard input."""

    def call(*arguments: str, stdin: bytes = b"", name: str = "gpugate") -> Outcome:
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as end:
            run()
        assert isinstance(end.value.code, int)
        return Outcome(end.value.code, *capsys.readouterr())

    return call


@pytest.fixture
def check(gpugate: Gpugate) -> Gpugate:
    """Run ``gpugate check`` with the shipped policy."""

    def call(*arguments: str, **options: Any) -> Outcome:
        return gpugate("check", "--policy", "shipped", *arguments, **options)

    return call
