"""Sockets to listen on."""

import socket

from app.server.limits import BACKLOG


def bind(host: str | None, port: int) -> socket.socket:
    """A socket bound to the port, on all addresses (IPv4 and IPv6 where there is IPv6) without a host.

    Raises OSError. Port 0 lets the system choose one.
    """
    if host is None:
        if socket.has_dualstack_ipv6():
            return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=BACKLOG)
        host = "0.0.0.0"  # noqa: S104 - that is what was asked for
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    return socket.create_server(address[:2], family=family, backlog=BACKLOG)
