"""`gpugate certs rotate`."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import click

from app.cli.options import cluster_options

_NEXT: Final = {
    "authority": "{folder}/ca.crt now holds the new authority and the old one. Let the API servers trust both "
    "(`gpugate manifests --ca-file {folder}/ca.crt ... | kubectl apply -f -`), then run this again.",
    "leaf": "tls.crt is signed by the new authority. Let every server have it, then run this again.",
    "drop": "the old authority is gone from {folder}/ca.crt. Let the API servers trust the new one alone, as before.",
}


@click.command("rotate")
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--leaf", is_flag=True, help="In FOLDER: only a new certificate, of the authority that is there.")
@click.option("--days", type=click.IntRange(1, 3650), default=365, show_default=True,
              help="How long a new certificate is valid.")  # fmt: skip
@click.option("--namespace", metavar="NAMESPACE", help="Ask the keeper of this namespace for a new authority instead.")
@cluster_options
def command(
    folder: Path | None,
    days: int,
    namespace: str | None,
    context: str | None,
    kubeconfig: str | None,
    *,
    leaf: bool,
) -> None:
    """Replace authority and certificate without an interruption.

    In FOLDER it does the next of three steps, and says what to do before the one after: a new authority beside the old
    one; a certificate signed by the new one; the old one gone. In a cluster the keeper does all of that by itself, also
    when certificates are due; --namespace asks for it now.

    \b
    Examples:
      gpugate certs rotate certs
      gpugate certs rotate --leaf certs
      gpugate certs rotate --namespace gpugate
    """
    if (folder is None) == (namespace is None):
        raise click.UsageError("say what to rotate: either FOLDER or --namespace NAMESPACE of a keeper")
    if folder is not None:
        _rotate_files(folder, timedelta(days=days), leaf_only=leaf)
    elif leaf:
        raise click.UsageError("--leaf is about FOLDER; the keeper renews its certificate when it is due")
    else:
        _ask_keeper(str(namespace), context, kubeconfig)


def _rotate_files(folder: Path, lifetime: timedelta, *, leaf_only: bool) -> None:
    from app.certs import InvalidPair
    from app.certs.check import chain, names_of
    from app.certs.names import AUTHORITY_KEY, CERTIFICATE
    from app.certs.rotation import Authority, Lifetimes, Observed, new_authority, new_leaf, next_step
    from app.cli.certs_files import Folder

    now, lifetimes, files = datetime.now(UTC), Lifetimes(leaf=lifetime), Folder(folder)
    authority, pair = files.authority(now), files.leaf()
    if files.read(AUTHORITY_KEY) is None or pair is None:
        raise click.ClickException(
            f"{folder} holds no authority and certificate: `gpugate certs make {folder}` makes them"
        )
    try:
        names = names_of(chain(pair.certificate)[0])
    except InvalidPair as error:
        raise click.ClickException(f"{folder / CERTIFICATE}: {error}") from error
    # Whoever runs it again has done what was said before.
    step = next_step(authority, pair, names, now, Observed(trusted=True, served=True, asked=True))
    action = "leaf" if leaf_only else step.action
    if authority is None or action == "authority":
        action = "authority"
        files.write_authority(new_authority(authority.bundle if authority else b"", now, lifetimes))
    elif action == "leaf":
        files.write_leaf(new_leaf(authority, names, now, lifetimes))
    else:
        files.write_authority(Authority(authority.pair))
    renewed = action == "leaf" and authority is not None and not authority.old
    said = "tls.crt is a new certificate of the same authority: let every server have it." if renewed else _NEXT[action]
    click.echo(said.format(folder=folder))


def _ask_keeper(namespace: str, context: str | None, kubeconfig: str | None) -> None:
    from app.cluster.client import Cluster
    from app.cluster.errors import ClusterError, NotFound
    from app.manifests.keeper_names import AUTHORITY_SECRET, ROTATE_ANNOTATION

    now = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        cluster = Cluster.connect(context=context, kubeconfig=kubeconfig)
        cluster.patch(
            f"/api/v1/namespaces/{namespace}/secrets/{AUTHORITY_SECRET}",
            {"metadata": {"annotations": {ROTATE_ANNOTATION: now}}},
        )
    except NotFound as error:
        raise click.ClickException(f"{error}: is a keeper running there, and making the certificates?") from error
    except ClusterError as error:
        raise click.ClickException(str(error)) from error
    click.echo(
        f"asked the keeper in namespace {namespace} for a new authority; its log and "
        f"`kubectl get secret -n {namespace} {AUTHORITY_SECRET}` show how far it is"
    )
