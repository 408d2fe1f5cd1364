"""A long run: a million reviews, and a minute of slow clients. The server must not grow, and must go on answering.

    python -m tests.bench.soak [--reviews N] [--slow-seconds S] [--write]

The reviews are of many different pods in many namespaces, in both phases and all modes, of Deployments, and of
namespaces; each has a uid of its own; every 20,000, the connections are new ones.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import sys
import time
from collections.abc import Iterator
from typing import Any

import orjson
import uvloop

from tests.bench.load import Connection
from tests.bench.page import machine, today, write_section
from tests.bench.server import DEPENDENCIES, resident
from tests.server.samples import review
from tests.server.slow import DEADLINES, KINDS, SlowClients
from tests.server.test_slow_clients import durations, p99
from tests.support.pods import pods
from tests.support.server import Server

FIRST = 10_000
PIECE = 20_000
CONNECTIONS = 16
LIMIT = 5.0
SLOW_CLIENTS = 100
_UID = "00000000-0000-0000-0000-%012d"
_MARK = (_UID % 0).encode()


def bodies(count: int = 600) -> list[tuple[str, bytes]]:
    """Paths and reviews, with a uid to be replaced."""
    choose = random.Random(1)
    made = []
    for number, pod in enumerate(pods(1, count)):
        mode = choose.choice(("audit", "warn", "assist", "enforce"))
        namespace = f"team-{number}"
        kind = number % 10
        if kind == 0:
            template = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}
            template["spec"] = {"template": {"metadata": pod["metadata"], "spec": pod["spec"]}}
            path, obj = f"/advise/{mode}", template
            asked: dict[str, Any] = {"kind": {"group": "apps", "version": "v1", "kind": "Deployment"}}
        elif kind == 1:
            path, obj = "/namespace", {"metadata": {"name": namespace, "labels": {"gpugate.dev/mode": mode}}}
            asked = {"kind": {"group": "", "version": "v1", "kind": "Namespace"}, "name": namespace}
        else:
            path, obj, asked = f"/{'mutate' if kind % 2 else 'validate'}/{mode}", pod, {}
        made.append((path, orjson.dumps(review(obj, uid=_MARK.decode(), namespace=namespace, **asked))))
    return made


def requests(port: int, numbers: Iterator[int]) -> Iterator[bytes]:
    """Whole requests, for ever, each with a uid of its own."""
    head = (
        "POST %s?timeout=3s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: %d\r\n"
        "Content-Type: application/json\r\n\r\n"
    )
    whole = [(head % (path, port, len(body))).encode() + body for path, body in bodies()]
    for request in itertools.cycle(whole):
        yield request.replace(_MARK, (_UID % next(numbers)).encode())


class Various(Connection):
    """A connection that asks something else each time."""

    source: Iterator[bytes]

    def begin(self) -> None:
        """Send the next request."""
        self.request = next(self.source)
        super().begin()


async def send(server: Server, source: Iterator[bytes], count: int) -> None:
    """So many requests over new connections, each of which must be answered."""
    loop = asyncio.get_running_loop()
    context, left = server.tls(), [count]
    opened = []
    for _ in range(CONNECTIONS):
        connection = Various(b"", left, [], loop.create_future())
        connection.source = source
        await loop.create_connection(lambda made=connection: made, "127.0.0.1", server.port, ssl=context)  # type: ignore[misc]
        opened.append(connection)
    for connection in opened:
        connection.begin()
    await asyncio.gather(*(connection.done for connection in opened))
    for connection in opened:
        connection.transport.abort()


def memory(server: Server, reviews: int) -> tuple[float, float]:
    """Resident memory in MiB after the first and after all reviews."""
    source = requests(server.port, itertools.count())
    first, done, began = 0.0, 0, time.monotonic()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        while done < reviews:
            count = FIRST if not done else min(PIECE, reviews - done)
            runner.run(send(server, source, count))
            server.forget_logs()
            done += count
            now = resident(server.pid)
            first = first or now
            print(f"{done:9,} reviews: {now:.1f} MiB, {done / (time.monotonic() - began):,.0f} a second", flush=True)
    return first, resident(server.pid)


def slow_clients(server: Server, seconds: float) -> tuple[float, dict[str, float]]:
    """Good requests beside slow clients: their p99 by that without them, and the longest life by kind of client."""
    with server.new_client() as client:
        alone = p99(durations(client, 2000))
        found: list[float] = []
        end = time.monotonic() + seconds
        with SlowClients(server, SLOW_CLIENTS) as slow:
            while time.monotonic() < end:
                found += durations(client, 100)
            longest = {kind: max(slow.lifetimes[kind], default=0.0) for kind in KINDS}
        return p99(sorted(found)) / alone, {kind: longest[kind] for kind in KINDS}


def section(reviews: int, first: float, last: float, seconds: float, ratio: float, longest: dict[str, float]) -> str:
    """The part of the page that keeps the latest run."""
    lives = "\n".join(f"| {kind} | {DEADLINES[kind]:g} | {longest[kind]:.1f} |" for kind in KINDS)
    return f"""`make soak` sends reviews of 600 different objects to one server, and holds 100 slow clients against it.

Latest run, {today()}:

- {reviews:,} reviews: {first:.1f} MiB resident after the first {FIRST:,}, {last:.1f} MiB at the end
  ({last - first:+.1f}; wanted: at most +{LIMIT:g}).
- {SLOW_CLIENTS} slow clients for {seconds:g} s: every good request was answered; their p99 was {ratio:.2f} times
  that without slow clients.

| slow client | deadline, s | longest life, s |
|---|---:|---:|
{lives}

{machine(*DEPENDENCIES)}.
"""


def main() -> int:
    """Run; 1 if the server grew, or let a slow client live."""
    parser = argparse.ArgumentParser(description="A million reviews, and slow clients")
    parser.add_argument("--reviews", type=int, default=1_000_000)
    parser.add_argument("--slow-seconds", type=float, default=60.0)
    parser.add_argument("--write", action="store_true", help="keep the result in docs/benchmarks.md")
    options = parser.parse_args()
    with Server() as server:
        first, last = memory(server, options.reviews)
        ratio, longest = slow_clients(server, options.slow_seconds)
    made = section(options.reviews, first, last, options.slow_seconds, ratio, longest)
    print(made)
    if options.write:
        write_section("A long run", made)
    lived = [kind for kind in KINDS if longest[kind] > DEADLINES[kind] + LIMIT]
    return 1 if last - first > LIMIT or lived else 0


if __name__ == "__main__":
    sys.exit(main())
