"""What is no review gets a reason, and the next request is served."""

import contextlib
import json
import socket
import struct
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.server.connecting import connect, head, request
from tests.server.samples import response, review
from tests.support.server import Server

_GOOD = json.dumps(review()).encode()


@pytest.fixture(autouse=True)
def _serves_on(server: Server) -> Iterator[None]:
    yield
    assert response(server.post("/mutate/enforce", review()))["allowed"] is True


def _without(key: str) -> dict[str, Any]:
    body = review()
    del body["request"][key]
    return body


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "empty"),
        (b"{", "not JSON"),
        (_GOOD[:-10], "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"null", "not a JSON object"),
        (b"[]", "not a JSON object"),
        (b"{}", "expected an AdmissionReview"),
        ({**review(), "apiVersion": "admission.k8s.io/v1beta1"}, "v1beta1"),
        ({**review(), "kind": "Pod"}, "'Pod'"),
        ({**review(), "kind": {"a": "b" * 10_000}}, "expected an AdmissionReview"),
        ({**review(), "request": None}, "no request"),
        ({**review(), "request": "text"}, "no request"),
        (_without("object"), "object is missing"),
        (_without("uid"), "uid is missing"),
        (_without("kind"), "kind is missing"),
        (_without("operation"), "operation"),
        (review(object="text"), "not an object"),
        (review(oldObject=[]), "not an object"),
        (review(namespace=7), "not text"),
        (review(operation="PATCH"), "PATCH"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_no_review(server: Server, body: object, reason: str) -> None:
    reply = server.post("/mutate/enforce", body)
    assert reply.status == 400
    assert reason in reply.json["error"]
    assert len(reply.json["error"]) < 600
    assert reply.headers["content-type"] == "application/json"


@pytest.mark.parametrize("content_type", ["text/plain", "application/yaml", "application/x-www-form-urlencoded", "x"])
def test_another_content_type(server: Server, content_type: str) -> None:
    reply = server.post("/validate/enforce", review(), content_type=content_type)
    assert reply.status == 415
    assert content_type in reply.json["error"]


@pytest.mark.parametrize("path", ["/mutate/off", "/validate/disabled", "/mutate/", "/mutate/off/0a1b", "/mutate/Warn"])
def test_an_unknown_mode(server: Server, path: str) -> None:
    reply = server.post(path, review())
    assert reply.status == 404
    assert "audit, warn, assist, enforce" in reply.json["error"]


@pytest.mark.parametrize("path", ["/", "/mutate", "/nothing", "/mutate/enforce/a/b", "/metrics", "/policy", "/docs"])
def test_an_unknown_path(server: Server, path: str) -> None:
    reply = server.post(path, review())
    assert reply.status == 404
    assert reply.json["error"]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_another_method(server: Server, method: str) -> None:
    reply = server.post("/mutate/enforce", b"", method=method)
    assert reply.status == 405
    assert reply.headers["allow"] == "POST"
    assert method in reply.json["error"]


def test_eight_mebibytes(server: Server) -> None:
    reply = server.post("/mutate/enforce", b"x" * 8 * 2**20)
    assert reply.status == 413
    assert "7340032" in reply.json["error"]


def test_eight_mebibytes_in_chunks(server: Server) -> None:
    chunks = (b"x" * 2**16 for _ in range(128))
    answer = server.client.post("/mutate/enforce", content=chunks, headers={"content-type": "application/json"})
    assert answer.status_code == 413


def test_a_body_without_end_is_cut_off(server: Server) -> None:
    memory = server.metric("process_resident_memory_bytes")
    with connect(server) as connection:
        connection.sendall(head("transfer-encoding: chunked"))
        _send_until_closed(connection, b"10000\r\n" + b"x" * 2**16 + b"\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 413 ")
    assert server.metric("process_resident_memory_bytes") - memory < 40 * 2**20


@pytest.mark.parametrize("sent", [0, 1, 100, len(_GOOD) - 1])
def test_a_truncated_body(server: Server, sent: int) -> None:
    with connect(server) as connection:
        connection.sendall(head(f"content-length: {len(_GOOD)}") + _GOOD[:sent])


def test_a_body_that_does_not_come_within_the_timeout_of_the_call(server: Server) -> None:
    for header in (f"content-length: {len(_GOOD)}", "transfer-encoding: chunked"):
        began = time.monotonic()
        with connect(server) as connection:
            connection.sendall(head(header, "/mutate/enforce?timeout=1s") + b"3\r\n{  \r\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 408 ")
        assert 0.8 < time.monotonic() - began < 5


def test_headers_without_end_are_cut_off(server: Server) -> None:
    with connect(server) as connection:
        connection.sendall(b"POST /mutate/enforce HTTP/1.1\r\nhost: a\r\n")
        _send_until_closed(connection, b"x: " + b"y" * 10_000 + b"\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("sent", [b"\x00" * 100, b"HELO example.com\r\n\r\n", b"POST / HTTP/9.9\r\n\r\n"])
def test_what_is_no_http(server: Server, sent: bytes) -> None:
    with connect(server) as connection:
        connection.sendall(sent)
        assert connection.recv(1000).startswith(b"HTTP/1.1 400 ")


def test_what_is_no_tls(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")
        assert b"HTTP" not in connection.recv(1000)


def test_answers_come_in_the_order_of_pipelined_requests(server: Server) -> None:
    probe = b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n"
    with connect(server) as connection:
        connection.sendall(request("first") + probe + request("second") + request("third") + probe)
        received = b""
        while received.count(b"HTTP/1.1 200") < 5 or not received.endswith(b"}"):
            received += connection.recv(65536)
    places = [received.index(text) for text in (b'"first"', b'"ok"', b'"second"', b'"third"')]
    assert places == sorted(places)


def test_a_request_in_single_bytes(server: Server) -> None:
    with connect(server) as connection:
        for byte in request("slow"):
            connection.sendall(bytes((byte,)))
        assert b'"slow"' in connection.recv(65536)


def test_a_connection_is_closed_where_the_client_says_so(server: Server) -> None:
    with connect(server) as connection:
        connection.sendall(head(f"content-length: {len(_GOOD)}\r\nconnection: close") + _GOOD)
        received = b""
        while data := connection.recv(65536):
            received += data
    assert b"connection: close\r\n" in received


def _send_until_closed(connection: socket.socket, piece: bytes) -> None:
    """Send the piece again and again. The server throws it away for a moment, so that its answer can be read."""
    deadline = time.monotonic() + 20
    with contextlib.suppress(OSError):
        while time.monotonic() < deadline:
            connection.sendall(piece)
    assert time.monotonic() < deadline


def test_clients_that_go_away_before_their_answers(server: Server) -> None:
    """As an API server does whose own client gave up."""
    for attempt in range(40):
        with connect(server) as connection:
            for number in range(20):
                connection.sendall(request(f"unread-{number}"))
            if attempt % 2:
                # With a reset at once, not in order.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        assert server.running
