"""`gpugate certs`: certificates in files, by hand; and asking the keeper for a new authority."""

import click

from app.cli.main import LazyGroup

SUBCOMMANDS = {
    "inspect": "show what certificates say, and whether a server could use them",
    "make": "make an authority and a server's certificate in a folder",
    "rotate": "renew certificates in a folder, a step at a time, or in a cluster",
}


@click.group(
    "certs",
    cls=LazyGroup,
    summaries=SUBCOMMANDS,
    modules=lambda name: f"app.cli.certs_{name}",
    short_help="make, inspect and rotate certificates by hand",
)
def command() -> None:
    """Make, inspect and rotate the certificates of the webhook server. In a cluster, `gpugate keeper` does all that.

    \b
    Examples:
      gpugate certs make certs --name gpugate.example.com
      gpugate certs inspect certs
      gpugate certs rotate certs
      gpugate certs rotate --namespace gpugate
    """
