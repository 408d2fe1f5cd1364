"""Paths in the repository, which is what CI systems want to be told."""

import os
from pathlib import Path


class Repository:
    """The repository around a folder: up to where ``.git`` is, else the folder itself."""

    def __init__(self, folder: str) -> None:
        start = Path(folder).resolve()
        self._root = next((each for each in (start, *start.parents) if (each / ".git").exists()), start)
        self._paths: dict[str, str] = {}

    def path(self, name: str) -> str:
        """The path of a file relative to the root, links resolved; absolute if it lies outside."""
        path = self._paths.get(name)
        if path is None:
            path = self._paths[name] = self._relative(name)
        return path

    def exists(self, path: str) -> bool:
        """Whether there is a file at a path as ``path`` gives it; what was no file is taken to be there."""
        return path.startswith("<") or (self._root / path).exists()

    def _relative(self, name: str) -> str:
        if name.startswith("<"):
            return name  # standard input
        real = os.path.realpath(name)
        inside = os.path.relpath(real, self._root)
        return Path(real if inside.startswith("..") else inside).as_posix()
