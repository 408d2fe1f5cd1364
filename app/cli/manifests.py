"""`gpugate manifests`."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from app.cli.options import find_policy, load_policy, policy_option

if TYPE_CHECKING:
    from app.manifests.client import Client
    from app.manifests.install.settings import Certificates
    from app.policy.compiled import Policy

_PLACE: Final = "gpugate/gpugate"
_KEY: Final = re.compile(r"[-._a-zA-Z0-9]{1,253}")
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
@click.option("--ha", is_flag=True,
              help="With --install: an autoscaler, a second keeper, one server a node.")  # fmt: skip
@click.option("--uninstall", is_flag=True,
              help="What to delete, in order, for kubectl delete --ignore-not-found -f -.")  # fmt: skip
def command(
    policy_path: str | None,
    url: str | None,
    service: str | None,
    port: int | None,
    ca_file: Path | None,
    scope: Literal["tight", "broad"] | None,
    image: str | None,
    certificates: "Certificates | None",
    *,
    install: bool,
    no_keeper: bool,
    ha: bool,
    uninstall: bool,
) -> None:
    """Print what a policy means for a cluster, as YAML for kubectl: the webhook configurations, and the guard of the
    namespace label gpugate.dev/mode; with --install the server and the keeper too. The same input always prints the
    same.

    \b
    Examples:
      gpugate manifests --policy shipped --url https://127.0.0.1:9443 --ca-file certs/ca.crt | kubectl apply -f -
      gpugate manifests --policy gpugate.yaml --service gpugate/gpugate --ca-file ca.crt
      gpugate manifests --policy gpugate.yaml --install --image registry.example.com/gpugate:1 | kubectl apply -f -
      gpugate manifests --uninstall | kubectl delete --ignore-not-found -f -
    """
    from app.manifests.objects import text

    about_install = {"--image": image, "--certificates": certificates, "--no-keeper": no_keeper, "--ha": ha}
    given = [option for option, value in about_install.items() if value]
    if given and not install:
        raise click.UsageError(f"{given[0]} is about an installation: add --install")
    if uninstall:
        taken = (policy_path, url, port, ca_file, scope)
        if install or any(value is not None for value in taken):
            raise click.UsageError("--uninstall takes no other option than --service")
        click.echo("# To use: kubectl delete --ignore-not-found -f -\n" + text(_to_delete(service)), nl=False)
        return
    if install:
        if url is not None:
            raise click.UsageError("--install makes a Service: give --service NAMESPACE/NAME instead of --url")
        service = service or _PLACE
        _check_certificates(certificates or "keeper", ca_file, scope, keeper=not no_keeper)
    from app.cli.manifests_address import client_of

    client = client_of(url, service, port, ca_file)
    policy = load_policy(policy_path)
    if install:
        listed = _installed(policy, policy_path, client, image, certificates or "keeper", scope, not no_keeper, ha)
    else:
        from app.manifests.objects import objects

        listed = objects(policy, client, scope or "tight")
    click.echo("\n".join(_header(policy, install, scope, no_keeper)) + "\n" + text(listed), nl=False)


def _check_certificates(certificates: str, ca_file: Path | None, scope: str | None, *, keeper: bool) -> None:
    """Raise click.UsageError for options that contradict each other."""
    if keeper:
        for option, value in (("--ca-file", ca_file), ("--scope", scope)):
            if value is not None:
                raise click.UsageError(f"{option} is not needed: the keeper writes the webhook configurations")
    elif certificates == "keeper":
        raise click.UsageError("without the keeper, say who makes the certificate: --certificates cert-manager|secret")
    elif certificates == "cert-manager" and ca_file is not None:
        raise click.UsageError("--ca-file is not needed: cert-manager writes its own into the webhook configurations")


def _to_delete(service: str | None) -> list[dict[str, Any]]:
    from app.cli.manifests_address import service_of
    from app.manifests.install.objects import uninstall
    from app.manifests.install.settings import Installation

    return uninstall(Installation(service_of(service or _PLACE)))


def _installed(
    policy: "Policy",
    policy_path: str | None,
    client: "Client",
    image: str | None,
    certificates: "Certificates",
    scope: Literal["tight", "broad"] | None,
    keeper: bool,
    ha: bool,
) -> list[dict[str, Any]]:
    from app.manifests.client import Service
    from app.manifests.install.objects import install
    from app.manifests.install.settings import IMAGE, Installation

    assert isinstance(client, Service)
    files = _files(find_policy(policy_path))
    return install(policy, Installation(client, files, image or IMAGE, certificates, keeper, ha), scope or "broad")


def _files(path: str) -> dict[str, str]:
    """The policy's files as keys of a ConfigMap; raises click.ClickException for a name that cannot be one."""
    from app.sources.policies import SUFFIXES, policy_files

    found = {}
    for name, content in policy_files(path):
        key = Path(name).name
        key = key if key.endswith(SUFFIXES) else f"{key}.yaml"
        if not _KEY.fullmatch(key):
            raise click.ClickException(f"{name}: a key of a ConfigMap has no other characters than A-Z a-z 0-9 - _ .")
        found[key] = content.decode()
    return found


def _header(policy: "Policy", install: bool, scope: Literal["tight", "broad"] | None, no_keeper: bool) -> list[str]:
    """Comments that say what the objects were made from."""
    from app.manifests.scope import scope_digest

    documents = [f"# From the policy {document.name} ({document.digest})" for document in policy.documents]
    if install and not no_keeper:
        return ["# Made by: gpugate manifests --install", *documents, "# To use: kubectl apply -f -"]
    scope = scope or ("broad" if install else "tight")
    made = f"# Made by: gpugate manifests{' --install' if install else ''} --scope {scope}"
    return [made, *documents, f"# Scope digest: {scope_digest(policy, scope)}", "# To use: kubectl apply -f -"]
