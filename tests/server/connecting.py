"""Connections to a server, byte by byte."""

from __future__ import annotations

import json
import socket
import ssl

from tests.server.samples import review
from tests.support.server import Server


def connect(server: Server, context: ssl.SSLContext | None = None) -> ssl.SSLSocket:
    """A TLS connection to the webhook's port."""
    plain = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    return (context or server.tls()).wrap_socket(plain, server_hostname="127.0.0.1")


def head(header: str, path: str = "/mutate/enforce") -> bytes:
    """The head of a POST of JSON, with one more header."""
    return f"POST {path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n{header}\r\n\r\n".encode()


def request(uid: str) -> bytes:
    """A whole request for a review."""
    body = json.dumps(review(uid=uid)).encode()
    return head(f"content-length: {len(body)}") + body


def closed(connection: socket.socket) -> bool:
    """Whether the server has ended the connection; waits for its answer or its end."""
    try:
        return connection.recv(65536) == b""
    except TimeoutError:
        return False
    except OSError:
        return True
