"""A load generator: keep-alive connections over TLS, each with one request at a time, a bounded number in all.

    python tests/bench/load.py PORT CA_FILE PATH BODY_FILE CONNECTIONS REQUESTS    prints one JSON object

It sends each request in one write and reads just enough of HTTP to find an answer's end, so that it costs less than
what it measures.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import statistics
import sys
import time
from pathlib import Path

import uvloop


class Connection(asyncio.Protocol):
    """One connection; ``left`` is shared by all."""

    def __init__(self, request: bytes, left: list[int], times: list[float], done: asyncio.Future[None]) -> None:
        self.request = request
        self.left = left
        self.times = times
        self.done = done
        self.buffer = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.transport = transport

    def begin(self) -> None:
        if self.left[0] <= 0:
            if not self.done.done():
                self.done.set_result(None)
            return
        self.left[0] -= 1
        self.began = time.perf_counter()
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, separator, body = self.buffer.partition(b"\r\n\r\n")
        if not separator:
            return
        length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return
        if not head.startswith(b"HTTP/1.1 200"):
            self.done.set_exception(RuntimeError(self.buffer.decode()))
            return
        self.times.append(time.perf_counter() - self.began)
        self.buffer = b""
        self.begin()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(exc or ConnectionError("the server closed the connection"))


async def load(port: int, ca_file: str, path: str, body: bytes, connections: int, requests: int) -> dict[str, float]:
    """Seconds in all, and the 50th and 99th percentile of an answer's time, in ms."""
    loop = asyncio.get_running_loop()
    context = ssl.create_default_context(cafile=ca_file)
    head = (
        f"POST {path}?timeout=3s HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: kube-apiserver-admission\r\n"
        f"Content-Length: {len(body)}\r\nAccept: application/json, */*\r\nContent-Type: application/json\r\n"
        "Accept-Encoding: gzip\r\n\r\n"
    )
    times: list[float] = []
    left = [requests]
    opened = []
    for _ in range(connections):
        done: asyncio.Future[None] = loop.create_future()
        connection = Connection(head.encode() + body, left, times, done)
        await loop.create_connection(lambda made=connection: made, "127.0.0.1", port, ssl=context)  # type: ignore[misc]
        opened.append(connection)
    began = time.perf_counter()
    for connection in opened:
        connection.begin()
    await asyncio.gather(*(connection.done for connection in opened))
    seconds = time.perf_counter() - began
    for connection in opened:
        connection.transport.abort()
    hundredths = statistics.quantiles(times, n=100)
    return {"seconds": seconds, "p50": hundredths[49] * 1000, "p99": hundredths[98] * 1000}


def main(port: str, ca_file: str, path: str, body_file: str, connections: str, requests: str) -> None:
    body = Path(body_file).read_bytes()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(load(int(port), ca_file, path, body, int(connections), int(requests)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
