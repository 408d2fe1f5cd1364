"""`gpugate board`: the page that a rollout is steered by, on loopback or as files."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from app.cli.listen import listen
from app.cli.options import cluster_options, find_policy, policy_option
from app.model.words import counted

if TYPE_CHECKING:
    from app.server.board.snapshots import Make

_HOST: Final = "127.0.0.1"


@click.command(short_help="Show a rollout as pages: served here, or as files.")
@policy_option
@cluster_options
@click.option("-n", "--namespace", metavar="NS", help="Only this namespace.  [default: all]")
@click.option("--snapshot", "file", metavar="FILE",
              help="What `gpugate scan -o snapshot` wrote, instead of a cluster; - is standard input.")  # fmt: skip
@click.option("--port", default=8090, show_default=True, type=click.IntRange(0, 65535),
              help="Port on 127.0.0.1; 0 takes a free one.")  # fmt: skip
@click.option("--interval", default=300, show_default=True, metavar="SECONDS", type=click.IntRange(0),
              help="While somebody looks, scan again after this long; 0 only when asked to.")  # fmt: skip
@click.option("--allow-promote", is_flag=True,
              help="Let who opens the address that is printed change modes, as `gpugate modes` does.")  # fmt: skip
@click.option("--export", "folder", metavar="DIR", type=click.Path(path_type=Path),
              help="Write the board there as files that open without a server, and end.")  # fmt: skip
def command(
    policy_path: str | None,
    context: str | None,
    kubeconfig: str | None,
    namespace: str | None,
    file: str | None,
    port: int,
    interval: int,
    folder: Path | None,
    *,
    allow_promote: bool,
) -> None:
    """Show which namespace is in which mode, and what the next one would change and break there.

    Scans a cluster with the rights of your kubeconfig, or takes a scan from a file. Serves pages on this machine only,
    until Ctrl-C; or writes them as files, for the artifacts of a pipeline. Nothing in the cluster is changed without
    --allow-promote.

    \b
    Examples:
      gpugate board --policy gpugate.yaml
      gpugate board --policy gpugate.yaml --context prod --port 9000
      gpugate board --snapshot scan.json --export public/
    """
    from app.cli.board_files import write_files
    from app.cli.board_snapshots import ClusterSnapshots, first_of, of_file
    from app.server.board.application import Board
    from app.server.board.guard import Session
    from app.server.board.run import run
    from app.server.board.snapshots import Snapshots

    if file is not None and (policy_path or context or kubeconfig or namespace):
        raise click.UsageError(
            "--snapshot takes the place of a cluster: leave out --policy, --context, --kubeconfig and --namespace"
        )
    if allow_promote and (file is not None or folder is not None):
        raise click.UsageError("--allow-promote is for a cluster, and for a board that is served")
    make: Make
    changes = None
    if file is not None:
        make = of_file(file)
    else:
        make = source = ClusterSnapshots(find_policy(policy_path), context, kubeconfig, namespace)
        if allow_promote:
            from app.cli.board_changes import ClusterChanges

            changes = ClusterChanges(source)
    if folder is not None:
        shown = first_of(make)
        count = write_files(shown, folder)
        click.echo(f"{count} files in {folder}; open {folder / 'index.html'}", err=True)
        if shown.errors:
            click.echo(f"Note: {counted(len(shown.errors), 'thing')} could not be read; the board says which", err=True)
        return
    with listen(_HOST, port, "--port") as bound:
        if file is None:
            click.echo("scanning the cluster ...", err=True)
        snapshots = Snapshots(first_of(make), make, interval if file is None and interval else None)
        port = bound.getsockname()[1]
        session = Session(port)
        address = f"http://{_HOST}:{port}/" + (f"?key={session.key}" if changes else "")
        board = Board(snapshots, session, changes, file)
        run(board, bound, lambda: click.echo(f"board: {address} (Ctrl-C ends it)", err=True))
