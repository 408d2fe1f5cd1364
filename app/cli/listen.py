"""Sockets that commands listen on."""

import errno
import os
import signal
import socket

import click


def listen(host: str | None, port: int, option: str) -> socket.socket:
    """A socket bound to the port, on all addresses without a host; 0 takes a free port.

    Raises click.ClickException, which names the option of the port where another would do. From here on no broken
    connection or pipe ends the process.
    """
    # Its clients come and go, and so does whoever reads its log.
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    from app.server.sockets import bind

    try:
        return bind(host, port)
    except OSError as error:
        where = f"{host}:{port}" if host else f"port {port}"
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
        hint = f"; choose another with {option}" if error.errno == errno.EADDRINUSE else ""
        raise click.ClickException(f"cannot listen on {where}: {reason}{hint}") from error
