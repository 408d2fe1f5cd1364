"""Writes the board's files into a folder."""

import shutil
from pathlib import Path
from typing import Final

import click

from app.report.board.export import export
from app.report.board.links import FOLDER
from app.report.board.overview import overview
from app.report.snapshot import Snapshot

_MARK: Final = b'<meta name="generator" content="gpugate '
_HEAD: Final = 4096
"""Bytes at the start of a page that hold the mark."""


def write_files(snapshot: Snapshot, folder: Path) -> int:
    """Write the files, in place of those of an earlier board; how many there are. Raises click.ClickException."""
    count = 0
    try:
        _clear(folder)
        for made in export(overview(snapshot)):
            path = folder / made.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(made.content)
            count += 1
    except OSError as error:
        where = error.filename or folder
        raise click.ClickException(f"{where} cannot be written: {error.strerror or error}") from error
    return count


def _clear(folder: Path) -> None:
    """Take away what an earlier board left in the folder; raises click.ClickException if it holds anything else."""
    if not folder.exists() or not any(folder.iterdir()):
        return
    index = folder / "index.html"
    if not (index.is_file() and _MARK in index.read_bytes()[:_HEAD]):
        raise click.ClickException(
            f"{folder} is not empty and holds no board of gpugate: give --export a new folder, or an empty one"
        )
    for page in folder.glob("index*.html"):
        page.unlink()
    shutil.rmtree(folder / FOLDER, ignore_errors=True)
