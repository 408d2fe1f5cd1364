"""Asks the servers which certificate and which policy they use: one TLS handshake and one GET of /readyz each."""

import http.client
import json
import socket
import ssl
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

from app.cluster.client import Cluster
from app.cluster.keeper.settings import Settings
from app.cluster.keeper.times import ASK_TIMEOUT
from app.manifests.client import Url

_AT_ONCE: Final = 16
_MAX_ANSWER: Final = 1 << 20


class Answer(NamedTuple):
    """One server. ``certificate`` (PEM) and ``policy`` (digest) are None where it could not be asked: ``problem``."""

    address: str
    certificate: bytes | None = None
    policy: str | None = None
    ready: bool = False
    problem: str | None = None


class Servers:
    """The servers behind the address that API servers call."""

    def __init__(self, cluster: Cluster, settings: Settings) -> None:
        self._cluster = cluster
        self._settings = settings

    def ask(self) -> list[Answer]:
        """What each server says; empty if there is none. Raises ClusterError if they cannot be listed."""
        addresses = self._addresses()
        if not addresses:
            return []
        name = self._settings.server_names[0]
        with ThreadPoolExecutor(min(_AT_ONCE, len(addresses))) as pool:
            return list(pool.map(lambda address: _ask(address[0], address[1], name), addresses))

    def _addresses(self) -> Sequence[tuple[str, int]]:
        client = self._settings.client
        if isinstance(client, Url):
            return [(client.host, client.port)]
        path = f"/apis/discovery.k8s.io/v1/namespaces/{client.namespace}/endpointslices"
        pages = self._cluster.pages(path, labelSelector=f"kubernetes.io/service-name={client.name}")
        return sorted({address for page in pages for each in page for address in addresses(each)})


def addresses(endpoint_slice: dict[str, Any], port: str = "webhook") -> Iterator[tuple[str, int]]:
    """The addresses of the servers that answer, those that are about to end among them.

    ``port`` is the name of the Service's port; where the slice has only one, that one counts.
    """
    ports = endpoint_slice.get("ports") or []
    named = [each for each in ports if each.get("name") == port] or ports[:1]
    for endpoint in endpoint_slice.get("endpoints") or []:
        # Not serving yet, or not any more; an absent condition means true.
        if (endpoint.get("conditions") or {}).get("serving") is False:
            continue
        for each in named:
            if each.get("port"):
                yield from ((address, each["port"]) for address in endpoint.get("addresses") or [])


def _ask(host: str, port: int, name: str) -> Answer:
    where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    # What it serves is looked at, not believed: whether its authority is trusted is for the caller to find out.
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    certificate = None
    try:
        with (
            socket.create_connection((host, port), ASK_TIMEOUT) as plain,
            context.wrap_socket(plain, server_hostname=name) as secure,
        ):
            presented = secure.getpeercert(binary_form=True)
            certificate = ssl.DER_cert_to_PEM_cert(presented).encode() if presented else None
            ready, policy = _ready(secure, name)
    except (OSError, ValueError, http.client.HTTPException) as error:
        return Answer(where, certificate, problem=" ".join(str(error).split()) or type(error).__name__)
    return Answer(where, certificate, policy, ready)


def _ready(connection: ssl.SSLSocket, name: str) -> tuple[bool, str | None]:
    """The status and the policy's digest of ``/readyz``, asked on a connection that is there."""
    client = http.client.HTTPConnection(name, timeout=ASK_TIMEOUT)
    client.sock = connection
    client.request("GET", "/readyz", headers={"Connection": "close"})
    response = client.getresponse()
    content = json.loads(response.read(_MAX_ANSWER))
    policy = content.get("policy") if isinstance(content, dict) else None
    return response.status == 200, policy if isinstance(policy, str) else None
