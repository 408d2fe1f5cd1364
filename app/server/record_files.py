"""The files of a recording: bounded in size and number, the oldest removed first. Written by one thread."""

import errno
import os
from contextlib import suppress
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Final

from app.server.limits import MAX_RECORD_FILE, MAX_RECORD_FILES

_NAMES: Final = "reviews-*.jsonl"


class RecordFiles:
    """Appends lines to the newest file in a folder; what an earlier server left there counts too.

    The names sort by time. Folder and files are for their owner only: even redacted, they tell who runs what.
    ``written`` counts the lines.
    """

    def __init__(self, folder: Path) -> None:
        """Make the folder, and see whether it can be written to. Raises OSError."""
        self.folder = folder
        self.written = 0
        self._size = 0
        self._file: int | None = None
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # No file yet: a server that keeps failing to start must not push out what others wrote.
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))

    def write(self, lines: list[bytes]) -> None:
        """Append the lines. Raises OSError; no line is written in part, and the next call tries again.

        As many at once as the file holds: after each call of the system a busy event loop may keep this thread
        waiting.
        """
        while lines:
            file = self._file
            if file is None or self._size + len(lines[0]) > MAX_RECORD_FILE:
                self.close()
                file = self._file = self._open()
            sizes = accumulate(map(len, lines), initial=self._size)
            count = max(1, sum(size <= MAX_RECORD_FILE for size in sizes) - 1)
            self._append(file, b"".join(lines[:count]))
            self.written += count
            lines = lines[count:]

    def close(self) -> None:
        """Close the file. Raises OSError."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def _append(self, file: int, content: bytes) -> None:
        rest = memoryview(content)
        try:
            while rest:
                rest = rest[os.write(file, rest) :]
        except OSError:
            self._mend(file)
            raise
        self._size += len(content)

    def _mend(self, file: int) -> None:
        """Cut off the part that a full disk left."""
        try:
            os.ftruncate(file, self._size)
        except OSError:
            with suppress(OSError):
                self.close()

    def _open(self) -> int:
        kept = sorted(self.folder.glob(_NAMES))
        for old in kept[: max(0, len(kept) - MAX_RECORD_FILES + 1)]:
            old.unlink(missing_ok=True)
        self._size = 0
        path = self.folder / f"reviews-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}-{os.getpid()}.jsonl"
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
