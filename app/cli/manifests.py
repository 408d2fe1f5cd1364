"""`gpugate manifests`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from app.cli.options import cluster_options, find_policy, load_policy, policy_option

if TYPE_CHECKING:
    from app.manifests.install.settings import Certificates
    from app.policy.compiled import Policy

_PLACE: Final = "gpugate/gpugate"
_SCOPE: Final = (
    "tight: what this policy judges. broad: what any policy made of the built-in presets can judge, for where the "
    "policy changes without the configurations; modes and exempt namespaces are still this policy's, and in enforce "
    "only GPU pods are refused while the server is down.  [default: tight; with --install broad]"
)


@click.command("manifests", short_help="print the objects of a policy, or of a whole installation")
@policy_option
@click.option("--url", metavar="URL", help="Base URL of the server, https://HOST[:PORT], as the API server reaches it.")
@click.option("--service", metavar="NAMESPACE/NAME",
              help=f"The server's Service, instead of a URL.  [default, with --install: {_PLACE}]")  # fmt: skip
@click.option("--port", type=click.IntRange(1, 65535), default=None, metavar="PORT",
              help="Port of the Service.  [default: 443]")  # fmt: skip
@click.option("--ca-file", type=click.Path(path_type=Path), metavar="FILE",
              help="Certificates (PEM) that the server's own is signed by. "
              "Default: the API server's system roots.")  # fmt: skip
@click.option("--scope", type=click.Choice(["tight", "broad"]), default=None, help=_SCOPE)
@click.option("--install", is_flag=True,
              help="Everything: namespace, policy, server, keeper, the guard, the webhook configurations.")  # fmt: skip
@click.option("--image", metavar="IMAGE", help="With --install: the image of server and keeper.")
@click.option("--certificates", type=click.Choice(["keeper", "cert-manager", "secret"]), default=None,
              help="With --install: who makes the server's certificate; secret: somebody who writes the Secret "
              "gpugate-tls (tls.crt, tls.key, ca.crt).  [default: keeper]")  # fmt: skip
@click.option("--no-keeper", is_flag=True,
              help="With --install: nothing with rights in the cluster; the webhook configurations are written out "
              "and not followed up.")  # fmt: skip
@click.option("--gitops", is_flag=True,
              help="With --install: the webhook configurations are written out, to be kept in a repository; the keeper "
              "keeps only their CA bundle, and reports drift.")  # fmt: skip
@click.option("--ha", is_flag=True,
              help="With --install: an autoscaler, a second keeper, one server a node.")  # fmt: skip
@click.option("--reports", is_flag=True,
              help="With --install: a CronJob that scans the cluster every hour and writes reports.")  # fmt: skip
@click.option("--uninstall", is_flag=True,
              help="What to delete, in order, for kubectl delete --ignore-not-found -f -.")  # fmt: skip
@click.option("--diff", is_flag=True,
              help="What applying would change in the cluster, as a diff; exit code 1 if anything.")  # fmt: skip
@cluster_options
def command(
    policy_path: str | None,
    url: str | None,
    service: str | None,
    port: int | None,
    ca_file: Path | None,
    scope: Literal["tight", "broad"] | None,
    image: str | None,
    certificates: "Certificates | None",
    context: str | None,
    kubeconfig: str | None,
    *,
    install: bool,
    no_keeper: bool,
    gitops: bool,
    ha: bool,
    reports: bool,
    uninstall: bool,
    diff: bool,
) -> None:
    """Print what a policy means for a cluster, as YAML for kubectl: the webhook configurations, and the guard of the
    namespace label gpugate.dev/mode; with --install the server and the keeper too. The same input always prints the
    same.

    \b
    Examples:
      gpugate manifests --policy shipped --url https://127.0.0.1:9443 --ca-file certs/ca.crt | kubectl apply -f -
      gpugate manifests --policy gpugate.yaml --service gpugate/gpugate --ca-file ca.crt
      gpugate manifests --policy gpugate.yaml --install --image registry.example.com/gpugate:1 | kubectl apply -f -
      gpugate manifests --policy gpugate.yaml --install --diff
      gpugate manifests --uninstall | kubectl delete --ignore-not-found -f -
    """
    from app.cli.manifests_address import client_of, service_of
    from app.cli.manifests_install import Wanted, installation
    from app.manifests.client import Service
    from app.manifests.install import objects as installs
    from app.manifests.objects import objects, text

    if (context or kubeconfig) and not diff:
        raise click.UsageError("--context and --kubeconfig say which cluster to compare with: add --diff")
    wanted = Wanted(image, certificates, no_keeper, gitops, ha, reports)
    if not install and wanted.first():
        raise click.UsageError(f"{wanted.first()} is about an installation: add --install")
    if uninstall:
        if install or diff or any(value is not None for value in (policy_path, url, port, ca_file, scope)):
            raise click.UsageError("--uninstall takes no other option than --service")
        deleted = text(installs.uninstall(service_of(service or _PLACE)))
        click.echo(f"# To use: kubectl delete --ignore-not-found -f -\n{deleted}", nl=False)
        return
    if install:
        if url is not None:
            raise click.UsageError("--install makes a Service: give --service NAMESPACE/NAME instead of --url")
        wanted.check(ca_file=ca_file is not None, scope=scope is not None)
        service = service or _PLACE
    client = client_of(url, service, port, ca_file)
    policy = load_policy(policy_path)
    if install and isinstance(client, Service):
        made, scope = installation(client, find_policy(policy_path), wanted), scope or "broad"
        how, listed = ["--install"], installs.install(policy, made, scope)
        how += [] if made.filled else ["--scope", scope]
    else:
        scope = scope or "tight"
        how, listed = ["--scope", scope], objects(policy, client, scope)
    if diff:
        _compare(listed, context, kubeconfig)
        return
    click.echo("\n".join(_header(policy, how, scope)))
    click.echo(text(listed), nl=False)


def _compare(listed: list[dict[str, Any]], context: str | None, kubeconfig: str | None) -> None:
    """Print the differences; exits 1 if there are any."""
    from app.cli.looking import connect
    from app.cluster.difference import differences
    from app.cluster.errors import ClusterError

    found = False
    try:
        for difference in differences(connect(context, kubeconfig), listed):
            click.echo(difference)
            found = True
    except ClusterError as error:
        raise click.ClickException(str(error)) from error
    if found:
        sys.exit(1)


def _header(policy: "Policy", how: list[str], scope: Literal["tight", "broad"]) -> list[str]:
    """Comments that say what the objects were made from."""
    from app.manifests.scope import scope_digest

    return [
        f"# Made by: gpugate manifests {' '.join(how)}",
        *(f"# From the policy {document.name} ({document.digest})" for document in policy.documents),
        *([f"# Scope digest: {scope_digest(policy, scope)}"] if "--scope" in how else []),
        "# To use: kubectl apply -f -",
    ]
