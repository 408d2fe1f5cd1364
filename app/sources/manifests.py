"""Manifests: files, folders, standard input."""

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

STDIN: Final = "<stdin>"
"""The name of standard input in results."""

SUFFIXES: Final = (".yaml", ".yml", ".json")
"""What is read of a folder; a file that is named itself may have any name."""


class Manifest(NamedTuple):
    """A file's content, under the name that results show."""

    name: str
    content: bytes


class Unreadable(NamedTuple):
    """A path that could not be read, and why."""

    name: str
    reason: str


class Manifests:
    """What stands at the paths, ``-`` being standard input. It can be gone over again.

    Files are read as they are asked for, one at a time. What cannot be read twice (standard input, a pipe) is kept.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = tuple(paths)
        self._kept: dict[str, bytes] = {}

    def __iter__(self) -> Iterator[Manifest | Unreadable]:
        for path in self._paths:
            if path == "-":
                yield Manifest(STDIN, self._stdin())
            elif os.path.isdir(path):  # noqa: PTH112
                yield from self._folder(path, set())
            else:
                yield self._file(path)

    def _stdin(self) -> bytes:
        if "-" not in self._kept:
            self._kept["-"] = sys.stdin.buffer.read()
        return self._kept["-"]

    def _file(self, path: str) -> Manifest | Unreadable:
        try:
            content = self._kept.get(path)
            if content is None:
                with Path(path).open("rb") as file:
                    content = file.read()
                    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                        self._kept[path] = content
        except (OSError, ValueError) as error:
            return Unreadable(shown(path), _reason(error))
        return Manifest(shown(path), content)

    def _folder(self, path: str, seen: set[tuple[int, int]]) -> Iterator[Manifest | Unreadable]:
        """The files of a folder and its folders, sorted, without what starts with a dot. Links are followed, into each
        folder once: a link may lead back."""
        try:
            status = os.stat(path)  # noqa: PTH116
            if (status.st_dev, status.st_ino) in seen:
                return
            seen.add((status.st_dev, status.st_ino))
            with os.scandir(path) as entries:
                found = sorted((entry.name, entry.is_dir()) for entry in entries)
        except OSError as error:
            yield Unreadable(shown(path), _reason(error))
            return
        for name, folder in found:
            inner = os.path.join(path, name)  # noqa: PTH118
            if name.startswith("."):
                continue
            if folder:
                yield from self._folder(inner, seen)
            elif name.endswith(SUFFIXES):
                yield self._file(inner)


def shown(path: str) -> str:
    """The path as text that can be written anywhere: file names are bytes, and need not be UTF-8."""
    return os.fsencode(path).decode("utf-8", "replace")


def _reason(error: Exception) -> str:
    return f"cannot be read: {error.strerror if isinstance(error, OSError) and error.strerror else error}"
