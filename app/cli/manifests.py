"""`gpugate manifests`."""

import re
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

import click

from app.cli.options import load_policy, policy_option

_DNS_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


@click.command("manifests", short_help="print the webhook configurations for a policy")
@policy_option
@click.option("--url", metavar="URL", help="Base URL of the server, https://HOST[:PORT], as the API server reaches it.")
@click.option("--service", metavar="NAMESPACE/NAME", help="The server's Service, instead of a URL.")
@click.option(
    "--port", type=click.IntRange(1, 65535), default=None, metavar="PORT", help="Port of the Service.  [default: 443]"
)
@click.option(
    "--ca-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Certificates (PEM) that the server's own is signed by. Default: the API server's system roots.",
)
@click.option(
    "--scope",
    type=click.Choice(["tight", "broad"]),
    default="tight",
    show_default=True,
    help="tight: what this policy judges. broad: what any policy made of the built-in presets can judge, for where the "
    "policy changes without the configurations; modes and exempt namespaces are still this policy's, and in enforce "
    "only GPU pods are refused while the server is down.",
)
def command(
    policy_path: str | None,
    url: str | None,
    service: str | None,
    port: int | None,
    ca_file: Path | None,
    scope: Literal["tight", "broad"],
) -> None:
    """Print what a policy means for a cluster, as YAML for kubectl: the webhook configurations, and the guard of the
    namespace label gpugate.dev/mode. The same input always prints the same.

    \b
    Examples:
      gpugate manifests --policy shipped --url https://127.0.0.1:9443 --ca-file certs/ca.crt | kubectl apply -f -
      gpugate manifests --policy gpugate.yaml --service gpugate/gpugate --ca-file ca.crt
    """
    from app.manifests.client import Client, Service, Url
    from app.manifests.objects import objects, text
    from app.manifests.scope import scope_digest

    if (url is None) == (service is None):
        raise click.UsageError("say where the server is: either --url https://HOST[:PORT] or --service NAMESPACE/NAME")
    if port is not None and service is None:
        raise click.UsageError("--port is the Service's; write the port of a --url into it")
    base = None if url is None else _base(url)
    names = None if service is None else _service(service)
    bundle = None if ca_file is None else _certificates(ca_file)
    policy = load_policy(policy_path)
    client: Client = Url(base, bundle) if base is not None else Service(*(names or ("", "")), port or 443, bundle)
    header = [
        f"# Made by: gpugate manifests --scope {scope}",
        *(f"# From the policy {document.name} ({document.digest})" for document in policy.documents),
        f"# Scope digest: {scope_digest(policy, scope)}",
        "# To use: kubectl apply -f -",
    ]
    click.echo("\n".join(header) + "\n" + text(objects(policy, client, scope)), nl=False)


def _base(url: str) -> str:
    """The URL without a trailing slash; what the API server would refuse in a webhook's URL is an error here."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise click.UsageError(f"--url {url}: {error}") from error
    problem = (
        "must begin with https://" if parts.scheme != "https"
        else "names no host" if not host
        else "must not hold a user or password" if parts.username is not None or parts.password is not None
        else "must not have a query or fragment" if "?" in url or "#" in url
        else "must not have white space" if any(letter.isspace() for letter in url)
        else None
    )  # fmt: skip
    if problem:
        raise click.UsageError(f"--url {url}: {problem}")
    return url.rstrip("/")


def _service(service: str) -> tuple[str, str]:
    namespace, _, name = service.partition("/")
    if not (_DNS_LABEL.fullmatch(namespace) and _DNS_LABEL.fullmatch(name)):
        raise click.UsageError(f"--service {service}: write it as NAMESPACE/NAME")
    return namespace, name


def _certificates(file: Path) -> bytes:
    """The certificates of the file as PEM, and nothing else that it may hold."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    try:
        found = x509.load_pem_x509_certificates(file.read_bytes())
    except OSError as error:
        raise click.UsageError(f"--ca-file {file}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise click.UsageError(f"--ca-file {file}: holds no certificate in PEM") from error
    return b"".join(certificate.public_bytes(Encoding.PEM) for certificate in found)
