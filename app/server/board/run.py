"""Serves the board until it is interrupted."""

import logging
import socket
from collections.abc import Callable
from typing import Any, Final

import uvicorn

from app.server.board.application import Board

_SHUTDOWN_TIMEOUT: Final = 2
"""Seconds for requests that are under way at the end: one that waits for a scan is not waited for."""


def run(board: Board, bound: socket.socket, listening: Callable[[], None]) -> None:
    """Serve on a socket bound to loopback; ``listening`` is called once it does. Returns after SIGINT or SIGTERM."""
    handler = logging.StreamHandler()
    handler.setFormatter(_OneLine("Error: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.ERROR, force=True)
    config = uvicorn.Config(
        board.application(),
        interface="asgi3",
        lifespan="off",
        ws="none",
        http="h11",  # it bounds headers; nothing here needs more speed
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT,
    )
    server = _Server(config, listening)
    try:
        server.run(sockets=[bound])
    except KeyboardInterrupt:
        return  # the usual end: uvicorn has stopped, and hands the signal on


class _OneLine(logging.Formatter):
    """An error of our own in a line, for who sits at the terminal: which, and where."""

    def formatException(self, ei: Any) -> str:  # noqa: N802 - logging's name
        _, error, trace = ei
        while trace.tb_next:
            trace = trace.tb_next
        return f"  {type(error).__name__}: {error} ({trace.tb_frame.f_code.co_filename}:{trace.tb_lineno})"


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening()
