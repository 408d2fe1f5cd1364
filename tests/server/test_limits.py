"""Bounds on connections, on what they hold, and on how long they may be silent."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from app.certs import Pair, issue, make_authority
from app.server.apps import webhook_app
from app.server.body import answer_within
from app.server.connections import Connections
from app.server.limits import FIRST_REQUEST_TIMEOUT, KEEP_ALIVE, MAX_BODY, MAX_HELD, READ_TIMEOUT
from app.server.listener import Listener
from app.server.sockets import bind
from tests.controlplane import wait_for
from tests.server.connecting import closed, connect, head, request
from tests.server.inprocess import service
from tests.server.samples import response, review
from tests.support.mounted import Mounted
from tests.support.server import Server


def ended(server: Server, reason: str) -> float:
    return server.metric("gpugate_connections_ended_total", reason=reason)


def test_over_the_limit_the_connection_idle_for_longest_is_closed() -> None:
    with Server(extra=["--max-connections", "4"]) as server, ExitStack() as stack:
        connections = [stack.enter_context(connect(server)) for _ in range(4)]
        for number in (1, 0, 2, 3):
            connections[number].sendall(request(f"u{number}"))
            assert f'"u{number}"'.encode() in connections[number].recv(65536)
            server.metrics()  # the server's clock, in milliseconds, goes on
        assert server.metric("gpugate_connections") == 4
        newcomer = stack.enter_context(connect(server))
        newcomer.sendall(request("new"))
        assert b'"new"' in newcomer.recv(65536)
        assert closed(connections[1])
        for number in (0, 2, 3):
            connections[number].sendall(request("again"))
            assert b'"again"' in connections[number].recv(65536)
        assert ended(server, "limit") == 1


def test_over_the_limit_requests_under_way_are_kept() -> None:
    with Server(extra=["--max-connections", "2"]) as server, ExitStack() as stack:
        whole = request("whole")
        busy = [stack.enter_context(connect(server)) for _ in range(2)]
        for connection in busy:
            connection.sendall(whole[:-5])
        wait_for(lambda: server.metric("gpugate_connections") == 2)
        assert closed(stack.enter_context(connect(server)))
        for connection in busy:
            connection.sendall(whole[-5:])
            assert b'"whole"' in connection.recv(65536)


def test_unfinished_bodies_hold_a_bounded_amount_together(server: Server) -> None:
    part = b" " * (MAX_BODY - 1)
    with ExitStack() as stack:
        connections = [stack.enter_context(connect(server)) for _ in range(MAX_HELD // MAX_BODY + 1)]
        for connection in connections:
            connection.sendall(head(f"content-length: {MAX_BODY}") + part)
        refused = connections[-1].recv(65536)
        assert refused.startswith(b"HTTP/1.1 429 ")
        assert b"\r\nretry-after: 1\r\n" in refused
        assert ended(server, "memory") == 1
        assert response(server.post("/mutate/enforce", review()))["allowed"] is True
        connections[0].sendall(b" ")
        assert connections[0].recv(65536).startswith(b"HTTP/1.1 400 ")  # it holds no review, but it was taken
    wait_for(lambda: server.metric("gpugate_connections") == 1)
    assert server.post("/mutate/enforce", part).status == 400


def client_context(server: Server, folder: Path, pair: Pair | None) -> ssl.SSLContext:
    context = server.tls()
    if pair:
        folder.mkdir(exist_ok=True)
        (folder / "c.crt").write_bytes(pair.certificate)
        (folder / "c.key").write_bytes(pair.key)
        context.load_cert_chain(folder / "c.crt", folder / "c.key")
    return context


def answered(server: Server, context: ssl.SSLContext) -> bool:
    try:
        with httpx.Client(base_url=server.url, verify=context, timeout=30) as client:
            return client.get("/healthz").status_code == 200
    except httpx.TransportError:
        return False


def test_clients_need_a_certificate_before_and_after_a_swap(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    servers, ours, others = make_authority(now), make_authority(now), make_authority(now)
    names = ["localhost", "127.0.0.1"]

    def files() -> dict[str, bytes]:
        pair = issue(servers, names, now)
        return {"ca.crt": servers.certificate, "tls.crt": pair.certificate, "tls.key": pair.key}

    mounted = Mounted(tmp_path / "certs", files())
    authorities = tmp_path / "clients.crt"
    authorities.write_bytes(ours.certificate)
    # Client certificates for TLS clients of OpenSSL need no more than any usage.
    with Server(cert_dir=mounted.folder, extra=["--client-ca", str(authorities)]) as server:
        good = client_context(server, tmp_path / "good", _client(ours))
        bad = client_context(server, tmp_path / "bad", _client(others))
        none = client_context(server, tmp_path, None)
        assert [answered(server, each) for each in (good, bad, none)] == [True, False, False]
        assert server.get("/readyz", metrics_port=True).status == 200

        mounted.write(files())
        server.wait_for_log("certificate_loaded")
        assert [answered(server, each) for each in (good, bad, none)] == [True, False, False]

        authorities.write_text("nothing")
        assert "holds no certificates in PEM" in server.wait_for_log("certificate_refused")["reason"]
        assert [answered(server, each) for each in (good, bad, none)] == [True, False, False]

        authorities.write_bytes(others.certificate)
        wait_for(lambda: answered(server, bad))
        assert [answered(server, each) for each in (good, none)] == [False, False]


def _client(authority: Pair) -> Pair:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization

    pair = issue(authority, ["client.example.com"], datetime.now(UTC))
    key = serialization.load_pem_private_key(pair.key, None)
    found = x509.load_pem_x509_certificate(pair.certificate)
    signer = serialization.load_pem_private_key(authority.key, None)
    usage = x509.ExtendedKeyUsage([x509.oid.ExtendedKeyUsageOID.CLIENT_AUTH])
    builder = x509.CertificateBuilder(
        found.issuer, found.subject, key.public_key(), found.serial_number,  # type: ignore[arg-type]
        found.not_valid_before_utc, found.not_valid_after_utc,
    )  # fmt: skip
    for extension in found.extensions:
        replaced = usage if isinstance(extension.value, x509.ExtendedKeyUsage) else extension.value
        builder = builder.add_extension(replaced, extension.critical)
    made = builder.sign(signer, hashes.SHA256())  # type: ignore[arg-type]
    return Pair(made.public_bytes(serialization.Encoding.PEM), pair.key)


@pytest.mark.parametrize(
    ("query", "seconds"),
    [
        (b"timeout=1s", 0.9),
        (b"timeout=30s", 27),
        (b"a=b&timeout=500ms", 0.45),
        (b"timeout=2.5s&x", 2.25),
        (b"timeout=1h", None),
        (b"timeout=", None),
        (b"timeout=-1s", None),
        (b"timeout=99999s", None),
        (b"", None),
    ],
)
def test_the_time_that_a_call_leaves(query: bytes, seconds: float | None) -> None:
    found = answer_within(query)
    assert found == (None if seconds is None else pytest.approx(seconds))


def with_listener(
    tmp_path: Path, act: Callable[[Listener, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
) -> Connections:
    """Run a listener without TLS in this process, and a connection to it; deadlines are looked at when asked for."""
    shared = Connections(10)

    async def run() -> None:
        with bind("127.0.0.1", 0) as bound:
            listener = Listener(webhook_app(service(tmp_path / "log")), bound, shared)
            serving = asyncio.create_task(listener.serve())
            while not listener.started:
                await asyncio.sleep(0)
            reader, writer = await asyncio.open_connection(*bound.getsockname())
            while not shared.open:
                await asyncio.sleep(0)
            await act(listener, reader, writer)
            writer.close()
            listener.should_exit = True
            await serving

    asyncio.run(run())
    return shared


def after(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds


def test_a_connection_that_was_used_is_kept_for_longer_than_api_servers_keep_theirs(tmp_path: Path) -> None:
    assert KEEP_ALIVE > 90

    async def act(listener: Listener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            writer.write(request("kept"))
            assert b'"kept"' in await reader.read(65536)
            listener.check_deadlines(after(91))
        listener.check_deadlines(after(KEEP_ALIVE + 1))
        assert await reader.read() == b""

    assert with_listener(tmp_path, act).ended["idle"] == 1


def test_a_connection_that_is_never_used_is_closed_soon(tmp_path: Path) -> None:
    async def act(listener: Listener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        listener.check_deadlines(after(FIRST_REQUEST_TIMEOUT - 1))
        assert not reader.at_eof()
        listener.check_deadlines(after(FIRST_REQUEST_TIMEOUT + 1))
        assert await reader.read() == b""

    assert with_listener(tmp_path, act).ended["idle"] == 1


@pytest.mark.parametrize("sent", [request("half")[:20], request("half")[:-1]])
def test_a_request_that_does_not_arrive(tmp_path: Path, sent: bytes) -> None:
    async def act(listener: Listener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        await writer.drain()
        while not listener.shared.held:
            await asyncio.sleep(0)
        assert listener.shared.held == len(sent)
        listener.check_deadlines(after(READ_TIMEOUT - 1))
        assert not reader.at_eof()
        listener.check_deadlines(after(READ_TIMEOUT + 1))
        assert (await reader.read()).startswith(b"HTTP/1.1 408 ")
        assert listener.shared.held == 0

    assert with_listener(tmp_path, act).ended["deadline"] == 1
