"""Manifests: files, folders, standard input, and what kustomize and Helm render."""

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from app.sources.rendered import Chart, NotRendered, Rendering, helm, kustomize, render

STDIN: Final = "<stdin>"
"""The name of standard input in results."""

SUFFIXES: Final = (".yaml", ".yml", ".json")
"""What is read of a folder; a file that is named itself may have any name."""


class Manifest(NamedTuple):
    """A content, under the name that results show.

    ``rendered`` tells that it is no file itself; ``file`` is then one that stands for it (a kustomization), if there
    is one, and ``chart`` the folder of the Helm chart that it was rendered from.
    """

    name: str
    content: bytes
    rendered: bool = False
    file: str | None = None
    chart: str | None = None


class Unreadable(NamedTuple):
    """A path that could not be read, and why."""

    name: str
    reason: str


class Manifests:
    """What stands at the paths, ``-`` being standard input, then kustomizations and charts. It can be gone over again.

    Files are read as they are asked for, one at a time. What cannot be read twice (standard input, a pipe) is kept, and
    so is what was rendered.
    """

    def __init__(self, paths: Iterable[str], kustomizations: Iterable[str] = (), charts: Iterable[Chart] = ()) -> None:
        self._paths = tuple(paths)
        self._kustomizations = tuple(kustomizations)
        self._charts = tuple(charts)
        self._kept: dict[str, bytes] = {}
        self._rendered: dict[str, Manifest | Unreadable] = {}

    def __iter__(self) -> Iterator[Manifest | Unreadable]:
        for path in self._paths:
            if path == "-":
                yield Manifest(STDIN, self._stdin(), rendered=True)
            elif os.path.isdir(path):  # noqa: PTH112
                yield from self._folder(path, set())
            else:
                yield self._file(path)
        for folder in self._kustomizations:
            yield self._render(shown(f"kustomize {folder}"), partial(kustomize, folder))
        for chart in self._charts:
            yield self._render(shown(f"helm {chart.path}"), partial(helm, chart))

    def _render(self, name: str, find: Callable[[], Rendering]) -> Manifest | Unreadable:
        if name not in self._rendered:
            try:
                how = find()
                self._rendered[name] = Manifest(name, render(how), True, how.file, how.chart)
            except NotRendered as error:
                self._rendered[name] = Unreadable(name, str(error))
        return self._rendered[name]

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
            found = sorted(name for name in os.listdir(path) if not name.startswith("."))  # noqa: PTH208
        except OSError as error:
            yield Unreadable(shown(path), _reason(error))
            return
        for name in found:
            inner = os.path.join(path, name)  # noqa: PTH118
            try:
                mode = os.stat(inner).st_mode  # noqa: PTH116
            except OSError as error:
                yield Unreadable(shown(inner), _reason(error))
                continue
            if stat.S_ISDIR(mode):
                yield from self._folder(inner, seen)
            elif name.endswith(SUFFIXES):
                # To open a pipe would wait for somebody to write to it.
                yield self._file(inner) if stat.S_ISREG(mode) else Unreadable(shown(inner), "is not a regular file")


def shown(path: str) -> str:
    """The path as text that can be written anywhere: file names are bytes, and need not be UTF-8."""
    return os.fsencode(path).decode("utf-8", "replace")


def _reason(error: Exception) -> str:
    return f"cannot be read: {error.strerror if isinstance(error, OSError) and error.strerror else error}"
