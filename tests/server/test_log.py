import contextlib
import json
import os
import time
from collections.abc import Iterator

import pytest

from app.server import log as log_module
from app.server.log import JsonLog


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    for descriptor in (reading, writing):
        with contextlib.suppress(OSError):
            os.close(descriptor)


def test_a_line_is_one_json_object(pipe: tuple[int, int]) -> None:
    log = JsonLog(pipe[1])
    log.event("hello", text="a\nb\u2028", number=1.5, nothing=None)
    line = os.read(pipe[0], 10_000)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    found = json.loads(line)
    assert found.pop("ts").endswith("Z")
    assert found == {"level": "info", "event": "hello", "text": "a\nb\u2028", "number": 1.5, "nothing": None}


def test_a_reader_that_does_not_read_blocks_nothing(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "MAX_LOG_PENDING", 300_000)
    log = JsonLog(pipe[1])
    began = time.monotonic()
    for number in range(1000):
        log.event("line", number=number, text="x" * 1000)
    log.close(timeout=0.2)
    assert time.monotonic() - began < 10
    assert log.dropped > 500
    received = b""
    while len(received) < 250_000:
        received += os.read(pipe[0], 65536)
        log.flush()
    whole = received[: received.rindex(b"\n")].splitlines()
    assert [json.loads(line)["number"] for line in whole] == list(range(len(whole)))


def test_a_reader_that_is_gone_breaks_nothing(pipe: tuple[int, int]) -> None:
    log = JsonLog(pipe[1])
    os.close(pipe[0])
    log.event("to nobody")
    log.event("to nobody")
    log.close()
