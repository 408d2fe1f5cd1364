"""uvicorn's server, as the webhook needs it: several on one loop, none of which takes the process's signals."""

import asyncio
import socket
import ssl
from collections.abc import Generator, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from app.server.connections import Connections
from app.server.limits import (
    BACKLOG,
    HANDSHAKE_TIMEOUT,
    KEEP_ALIVE,
    SHUTDOWN_TIMEOUT,
    TLS_SHUTDOWN_TIMEOUT,
)
from app.server.protocol import BoundedProtocol
from app.server.reviews import Reviews


class Listener(uvicorn.Server):
    """Serves one application on one bound socket; with a context it speaks TLS."""

    def __init__(
        self, app: ASGIApp, bound: socket.socket, shared: Connections, context: ssl.SSLContext | None = None
    ) -> None:
        config = uvicorn.Config(
            app,
            http=BoundedProtocol,
            interface="asgi3",
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            proxy_headers=False,  # nothing here depends on who calls
            server_header=False,
            date_header=False,  # Go's client does not look at it
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=SHUTDOWN_TIMEOUT,
        )
        super().__init__(config)
        self._app = app
        self._bound = bound
        self.shared = shared
        self._context = context

    def open_connections(self) -> Iterator[BoundedProtocol]:
        """The connections that are open."""
        return (each for each in self.server_state.connections if isinstance(each, BoundedProtocol))

    def check_deadlines(self, now: float) -> None:
        """Close the connections whose request takes too long to arrive; ``now`` is the loop's time."""
        for connection in list(self.open_connections()):
            connection.check_deadlines(now)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002 - has its own
        """As uvicorn's, with bounds on TLS handshakes and farewells, which uvicorn leaves at 60 and 30 s."""
        await self.lifespan.startup()

        def connection(_loop: asyncio.AbstractEventLoop | None = None) -> asyncio.Protocol:
            return BoundedProtocol(
                self.config, self.server_state, self.lifespan.state, _loop or loop, reviews, self.shared
            )

        loop = asyncio.get_running_loop()
        reviews = self._app if isinstance(self._app, Reviews) else None
        server = await loop.create_server(
            connection,
            sock=self._bound,
            ssl=self._context,
            backlog=BACKLOG,
            ssl_handshake_timeout=HANDSHAKE_TIMEOUT if self._context else None,
            ssl_shutdown_timeout=TLS_SHUTDOWN_TIMEOUT if self._context else None,
        )
        self.servers = [server]
        self.started = True

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Signals are the business of whoever runs the listeners."""
        yield
