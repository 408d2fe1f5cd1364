"""Where `gpugate manifests` is told that the server is."""

import re
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import click

from app.manifests.client import Client, Service, Url

_DNS_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def client_of(url: str | None, service: str | None, port: int | None, ca_file: Path | None) -> Client:
    """What the options say; raises click.UsageError."""
    if (url is None) == (service is None):
        raise click.UsageError("say where the server is: either --url https://HOST[:PORT] or --service NAMESPACE/NAME")
    if port is not None and service is None:
        raise click.UsageError("--port is the Service's; write the port of a --url into it")
    bundle = None if ca_file is None else _certificates(ca_file)
    if url is not None:
        return Url(_base(url), bundle)
    return service_of(service or "", port, bundle)


def service_of(service: str, port: int | None = None, ca_bundle: bytes | None = None) -> Service:
    """The Service of ``NAMESPACE/NAME``; raises click.UsageError."""
    namespace, _, name = service.partition("/")
    if not (_DNS_LABEL.fullmatch(namespace) and _DNS_LABEL.fullmatch(name)):
        raise click.UsageError(f"--service {service}: write it as NAMESPACE/NAME")
    return Service(namespace, name, port or 443, ca_bundle)


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
