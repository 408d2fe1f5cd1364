"""What a review costs: `gpugate serve` with the shipped policy beside a bare uvicorn echo, in one run.

    python -m tests.bench.server [--requests N] [--rounds N] [--write]

The targets take turns, round by round: the speed of a machine moves by a third within minutes, so only the ratios of
neighbours count. CPU is what the kernel says that the server's process ran, user and system, divided by its requests.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import orjson

from tests.bench.page import machine, today, write_section
from tests.support.server import Server

CONNECTIONS = (1, 8, 32)
LIMIT = 1.7
HERE = Path(__file__).resolve().parent
DEPENDENCIES = ("uvicorn", "uvloop", "httptools", "orjson", "fastapi")


class Target(NamedTuple):
    """What is measured: a process, and where to send the review."""

    name: str
    pid: int
    port: int
    path: str


class Round(NamedTuple):
    """One round of one target: ms of CPU a request, requests a second, percentiles in ms, MiB resident."""

    cpu: float
    rate: float
    p50: float
    p99: float
    rss: float


class Row(NamedTuple):
    """Medians of a target's rounds; ``ratio`` is that of each round's CPU to its neighbour's, the echo's."""

    connections: int
    name: str
    cpu: float
    ratio: float
    rate: float
    p50: float
    p99: float
    rss: float


def measure(target: Target, ca_file: Path, body: Path, connections: int, requests: int) -> Round:
    """Send the requests from a process of its own."""
    command = [sys.executable, str(HERE / "load.py"), str(target.port), str(ca_file), target.path, str(body)]
    command += [str(connections), str(requests)]
    before = cpu_seconds(target.pid)
    found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    cpu = cpu_seconds(target.pid) - before
    rate = requests / found["seconds"]
    return Round(cpu * 1000 / requests, rate, found["p50"], found["p99"], resident(target.pid))


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far, all threads. The scheduler counts nanoseconds, ``stat`` only ticks."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def resident(pid: int) -> float:
    """Resident memory in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@contextlib.contextmanager
def echo(folder: Path) -> Iterator[tuple[int, int]]:
    """The echo server with the certificates of the folder: its process and its port."""
    command = [sys.executable, str(HERE / "echo.py"), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.pid, int(process.stdout.readline())
        finally:
            process.kill()


def bench(rounds: int, requests: int) -> Iterator[Row]:
    """The rows of the table."""
    with tempfile.TemporaryDirectory() as folder, Server("shipped") as server, echo(server.cert_dir) as (pid, port):
        body = Path(folder) / "review.json"
        body.write_bytes(orjson.dumps(orjson.loads((HERE / "review.json").read_bytes())))
        targets = [
            Target("echo", pid, port, "/"),
            Target("mutate", server.pid, server.port, "/mutate/enforce"),
            Target("validate", server.pid, server.port, "/validate/enforce"),
        ]
        for target in targets:
            measure(target, server.ca_file, body, 8, requests)
        for connections in CONNECTIONS:
            found: dict[str, list[Round]] = {target.name: [] for target in targets}
            for _ in range(rounds):
                for target in targets:
                    found[target.name].append(measure(target, server.ca_file, body, connections, requests))
            floor = found["echo"]
            for target in targets:
                taken = found[target.name]
                ratio = statistics.median(one.cpu / base.cpu for one, base in zip(taken, floor, strict=True))
                cpu, *rest = (statistics.median(values) for values in zip(*taken, strict=True))
                yield Row(connections, target.name, cpu, ratio, *rest)


HEADER = (
    "| connections | target | CPU ms a request | ratio to echo | req/s | p50 ms | p99 ms | RSS MiB |\n"
    "|---:|---|---:|---:|---:|---:|---:|---:|"
)


def line(row: Row) -> str:
    """A row as Markdown."""
    return (
        f"| {row.connections} | {row.name} | {row.cpu:.3f} | {row.ratio:.2f} | {row.rate:,.0f} | {row.p50:.2f} "
        f"| {row.p99:.2f} | {row.rss:.0f} |"
    )


def section(rows: list[Row], rounds: int, requests: int) -> str:
    """What is kept of a run."""
    size = len(orjson.dumps(orjson.loads((HERE / "review.json").read_bytes()))) / 1000
    worst = max(row.ratio for row in rows)
    table = "\n".join([HEADER, *map(line, rows)])
    return f"""
What a review costs the server's process: `gpugate serve` with the shipped policy, beside a bare ASGI function on stock
uvicorn that parses the same JSON and echoes the uid (uvloop, httptools, orjson). Same TLS, same recorded review of a
vLLM pod ({size:.1f} KB); clients and server share the machine. `mutate` answers with the pod's changes, `validate`
refuses the unchanged pod; both write a line to the decision log.

Latest run, {today()}: medians of {rounds} interleaved rounds of {requests:,} requests.
Wanted: at most {LIMIT} times the echo's CPU a request. Worst: {worst:.2f}.

{table}

{machine(*DEPENDENCIES)}.
"""


def main() -> int:
    """Print the table; 1 if a ratio is over the limit."""
    parser = argparse.ArgumentParser(description="CPU a review, beside a bare echo")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--requests", type=int, default=4000, help="of each target in each round")
    parser.add_argument("--write", action="store_true", help="keep the table in docs/benchmarks.md")
    options = parser.parse_args()
    rows: list[Row] = []
    print(HEADER, flush=True)
    for row in bench(options.rounds, options.requests):
        rows.append(row)
        print(line(row), flush=True)
    if options.write:
        write_section("The webhook", section(rows, options.rounds, options.requests))
    return 0 if all(row.ratio <= LIMIT for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
