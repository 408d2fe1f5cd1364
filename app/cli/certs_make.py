"""`gpugate certs make`."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from app.cli.certs_names import ServerName


@click.command("make")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--name", "names", type=ServerName(), multiple=True, required=True, metavar="NAME",
              help="DNS name or address by which API servers reach the server, such as gpugate.gpugate.svc; "
              "may be given several times.")  # fmt: skip
@click.option("--days", type=click.IntRange(1, 3650), default=365, show_default=True,
              help="How long the server's certificate is valid.")  # fmt: skip
@click.option("--authority-days", type=click.IntRange(1, 36500), default=3650, show_default=True,
              help="How long the authority is valid.")  # fmt: skip
def command(folder: Path, names: tuple[str, ...], days: int, authority_days: int) -> None:
    """Make a certificate authority and a server's certificate in FOLDER: ca.crt, ca.key, tls.crt, tls.key.

    Where there is an authority already (ca.crt and ca.key), it signs. A certificate that is there is not overwritten.
    ca.key is for signing only: keep it away from the server.

    \b
    Examples:
      gpugate certs make certs --name gpugate.gpugate.svc
      gpugate certs make certs --name gpugate.example.com --name 10.0.0.5 --days 90
    """
    from app.certs.rotation import Lifetimes, new_authority, new_leaf
    from app.cli.certs_files import Folder

    lifetimes, now = Lifetimes(timedelta(days=authority_days), timedelta(days=days)), datetime.now(UTC)
    files = Folder(folder)
    if files.leaf() is not None:
        raise click.UsageError(f"{folder} holds a certificate already: renew it with `gpugate certs rotate {folder}`")
    authority = files.authority(now)
    made = "a certificate"
    if authority is None:
        authority, made = new_authority(b"", now, lifetimes), "an authority and a certificate"
        files.write_authority(authority)
    files.write_leaf(new_leaf(authority, names, now, lifetimes))
    click.echo(f"made {made} for {', '.join(names)} in {folder}")
