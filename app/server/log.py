"""JSON lines on standard output: decisions, and what happens to the server. Never blocks the event loop."""

import logging
import os
import select
import time
import traceback
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from app.server.limits import MAX_LOG_PENDING

# A pipe that polls as writable takes this much without blocking (POSIX: PIPE_BUF).
_CHUNK: Final = 4096
_OPTIONS: Final = orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS


class JsonLog:
    """Writes one JSON object a line to a file descriptor.

    What the reader at the other end does not take is kept, up to MAX_LOG_PENDING, and tried again with the next
    ``flush``; ``dropped`` counts the lines beyond that. For one thread.
    """

    def __init__(self, descriptor: int = 1) -> None:
        self.dropped = 0
        self._descriptor = descriptor
        self._pending = bytearray()
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)

    def write(self, line: dict[str, Any]) -> None:
        """Take a line for the next ``flush``. Values that JSON does not know are written as text."""
        encoded = orjson.dumps(line, default=str, option=_OPTIONS)
        if len(self._pending) + len(encoded) > MAX_LOG_PENDING:
            self.dropped += 1
        else:
            self._pending += encoded

    def event(self, event: str, level: str = "info", **fields: Any) -> None:
        """Write something that happened to the server: ``{"ts": ..., "level": ..., "event": ..., ...}``."""
        self.write({"ts": datetime.now(UTC), "level": level, "event": event, **fields})
        self.flush()

    def flush(self) -> None:
        """Write what was kept, as far as the reader takes it now."""
        pending = self._pending
        try:
            while pending and self._poll.poll(0):
                del pending[: os.write(self._descriptor, pending[:_CHUNK])]
        except OSError:
            # Nobody reads any more. There is no other place to say so, and admission goes on.
            pending.clear()

    def close(self, timeout: float = 1.0) -> None:
        """Write what was kept, waiting for the reader no longer than this (seconds)."""
        deadline = time.monotonic() + timeout
        while self._pending and time.monotonic() < deadline and self._poll.poll(100):
            self.flush()


class LogHandler(logging.Handler):
    """Takes the records of Python's logging (uvicorn, asyncio) into the JSON log."""

    def __init__(self, log: JsonLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        fields: dict[str, Any] = {"logger": record.name, "message": record.getMessage()}
        if record.exc_info and record.exc_info[1]:
            fields["traceback"] = "".join(traceback.format_exception(record.exc_info[1]))
        self._log.event("log", record.levelname.lower(), **fields)
