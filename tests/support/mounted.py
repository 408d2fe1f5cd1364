"""A folder as kubelet mounts a ConfigMap or a Secret, and as it brings it up to date.

Source: k8s.io/kubernetes pkg/volume/util/atomic_writer.go (v1.37.2).
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Mapping
from pathlib import Path


class Mounted:
    """The files are links to ``..data/<name>``; ``..data`` is a link to a folder that is never written to again."""

    def __init__(self, folder: Path, files: Mapping[str, str | bytes]) -> None:
        self.folder = folder
        self._numbers = itertools.count(1)
        folder.mkdir(parents=True)
        self.write(files)

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Replace all files in one step."""
        data = self.folder / "..data"
        old = data.resolve() if data.exists() else None
        new = self.folder / f"..2026_12_02_{next(self._numbers)}"
        new.mkdir()
        for name, content in files.items():
            (new / name).write_bytes(content.encode() if isinstance(content, str) else content)
        link = self.folder / "..data_tmp"
        link.symlink_to(new.name)
        link.rename(data)
        for name in files:
            if not (self.folder / name).is_symlink():
                (self.folder / name).symlink_to(f"..data/{name}")
        for entry in self.folder.iterdir():
            if not entry.name.startswith("..") and entry.name not in files:
                entry.unlink()
        if old:
            shutil.rmtree(old)
