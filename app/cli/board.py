"""`gpugate board`: the page that a rollout is steered by, on loopback or as files."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from app.cli.listen import listen
from app.report.snapshot import InvalidSnapshot, Snapshot

if TYPE_CHECKING:
    from app.server.board.snapshots import Make

_HOST: Final = "127.0.0.1"
_STDIN: Final = "-"
_MARK: Final = b'<meta name="generator" content="gpugate '
_FOLDER: Final = "namespaces"


@click.command(short_help="Show a rollout as pages: served here, or as files.")
@click.option("--snapshot", "file", metavar="FILE", required=True,
              help="Show what `gpugate scan` wrote there; - is standard input.")  # fmt: skip
@click.option("--port", default=8090, show_default=True, type=click.IntRange(0, 65535),
              help="Port on 127.0.0.1; 0 takes a free one.")  # fmt: skip
@click.option("--export", "folder", metavar="DIR", type=click.Path(path_type=Path),
              help="Write the board there as files that open without a server, and end.")  # fmt: skip
def command(file: str, port: int, folder: Path | None) -> None:
    """Show which namespace is in which mode, and what the next one would change and break there.

    Serves pages on this machine only, until Ctrl-C; or writes them as files, for the artifacts of a pipeline.

    \b
    Examples:
      gpugate board --snapshot scan.json
      gpugate board --snapshot scan.json --export public/
    """
    from app.server.board.snapshots import SnapshotFailed

    def make() -> Snapshot:
        return _read(file)

    try:
        first = make()
    except SnapshotFailed as error:
        raise click.ClickException(str(error)) from error
    if folder is not None:
        _export(first, folder)
    else:
        _serve(first, make, port, file)


def _read(file: str) -> Snapshot:
    """The snapshot of a file; raises SnapshotFailed."""
    from app.server.board.snapshots import SnapshotFailed

    try:
        content = sys.stdin.buffer.read() if file == _STDIN else Path(file).read_bytes()
        return Snapshot.from_json(content)
    except OSError as error:
        raise SnapshotFailed(f"{file} cannot be read: {error.strerror or error}") from error
    except InvalidSnapshot as error:
        raise SnapshotFailed(f"{file} is no snapshot of gpugate scan: {error}") from error


def _export(snapshot: Snapshot, folder: Path) -> None:
    from app.report.board.export import export
    from app.report.board.overview import overview

    try:
        _clear(folder)
        count = 0
        for made in export(overview(snapshot)):
            count += 1
            path = folder / made.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(made.content)
    except OSError as error:
        where = error.filename or folder
        raise click.ClickException(f"{where} cannot be written: {error.strerror or error}") from error
    click.echo(f"{count} files in {folder}; open {folder / 'index.html'}", err=True)


def _clear(folder: Path) -> None:
    """Take away what an earlier board left in the folder; raises click.ClickException if it holds anything else."""
    if not folder.exists() or not any(folder.iterdir()):
        return
    index = folder / "index.html"
    if not (index.is_file() and _MARK in index.read_bytes()[:4096]):
        raise click.ClickException(
            f"{folder} is not empty and holds no board of gpugate: give --export a new folder, or an empty one"
        )
    for page in folder.glob("index*.html"):
        page.unlink()
    shutil.rmtree(folder / _FOLDER, ignore_errors=True)


def _serve(first: Snapshot, make: "Make", port: int, file: str) -> None:
    from app.server.board.application import Board
    from app.server.board.guard import Session
    from app.server.board.run import run
    from app.server.board.snapshots import Snapshots

    with listen(_HOST, port, "--port") as bound:
        port = bound.getsockname()[1]
        session = Session(port)
        board = Board(Snapshots(first, make, None), session, None, file)
        run(board, bound, lambda: click.echo(f"board: http://{_HOST}:{port}/ (Ctrl-C ends it)", err=True))
