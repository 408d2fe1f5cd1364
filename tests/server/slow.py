"""Clients that hold connections open and do not go on: silent, or in the middle of a request."""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from collections import defaultdict
from types import TracebackType
from typing import Final, Literal, Self, get_args

from app.server.limits import FIRST_REQUEST_TIMEOUT, HANDSHAKE_TIMEOUT, READ_TIMEOUT
from tests.server.connecting import request
from tests.support.server import Server

Kind = Literal["silent TCP", "silent TLS", "half headers", "half body"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
DEADLINES: Final[dict[Kind, float]] = {
    "silent TCP": HANDSHAKE_TIMEOUT,
    "silent TLS": FIRST_REQUEST_TIMEOUT,
    "half headers": READ_TIMEOUT,
    "half body": READ_TIMEOUT,
}
_WHOLE: Final = request("slow")
_SENT: Final[dict[Kind, bytes]] = {
    "silent TCP": b"",
    "silent TLS": b"",
    "half headers": _WHOLE[:40],
    "half body": _WHOLE[:-40],
}


class SlowClients:
    """That many of them, of every kind, each with a new connection as soon as the server closes its old one.

    ``lifetimes`` are the seconds that the closed connections lived.
    """

    def __init__(self, server: Server, count: int) -> None:
        self.lifetimes: defaultdict[Kind, list[float]] = defaultdict(list)
        self.open = 0
        self._server = server
        self._kinds = [KINDS[number % len(KINDS)] for number in range(count)]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="slow clients")
        self._stop = asyncio.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        self._loop.run_until_complete(self._until_stopped())
        self._loop.close()

    async def _until_stopped(self) -> None:
        context = self._server.tls()
        tasks = [asyncio.create_task(self._client(kind, context)) for kind in self._kinds]
        await self._stop.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # the transports close with the next turn of the loop

    async def _client(self, kind: Kind, context: ssl.SSLContext) -> None:
        while True:
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", self._server.port, ssl=None if kind == "silent TCP" else context
            )
            began = time.monotonic()
            self.open += 1
            writer.write(_SENT[kind])
            try:
                await reader.read()
            except OSError:
                pass  # reset is an end too
            finally:
                self.open -= 1
                writer.transport.abort()
            self.lifetimes[kind].append(time.monotonic() - began)
