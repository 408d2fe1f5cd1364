"""A TCP load balancer in front of servers of one machine, as a Service is in front of pods."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Self


class Balancer:
    """Hands each new connection to the next of ``ports``; connections that are open stay where they are.

    A backend that does not accept is left out for that connection.
    """

    def __init__(self, ports: Sequence[int]) -> None:
        self.ports = tuple(ports)
        self.port = 0
        self._turn = 0
        self._loop = asyncio.new_event_loop()
        self._listening = threading.Event()
        self._thread = threading.Thread(target=self._run, name="balancer")
        self._tasks: set[asyncio.Task[None]] = set()
        self._stop = asyncio.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        self._listening.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    @property
    def url(self) -> str:
        """Where the servers are reached."""
        return f"https://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Close all connections, and hand on no new one until ``ports`` is set again."""
        self.ports = ()
        self._loop.call_soon_threadsafe(lambda: [task.cancel() for task in self._tasks])

    def _run(self) -> None:
        with contextlib.closing(self._loop):
            self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._listening.set()
        await self._stop.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._forward(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ports = self.ports
        self._turn += 1
        try:
            for offset in range(len(ports)):
                port = ports[(self._turn + offset) % len(ports)]
                try:
                    there, back = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    continue
                with contextlib.closing(back):
                    ways = [asyncio.ensure_future(_copy(*way)) for way in ((reader, back), (there, writer))]
                    try:
                        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
                    finally:
                        for way in ways:
                            way.cancel()
                        await asyncio.gather(*ways, return_exceptions=True)
                return
        finally:
            writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
