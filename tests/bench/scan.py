"""What `gpugate scan` costs: `python -m tests.bench.scan [--rounds N] [--write]`.

On a control plane of its own, with the 40 namespaces, 400 workloads and 2,000 pods of tests/support/population.py. The
yardstick is the same client reading the same lists page by page and doing nothing with the objects; the goal is twice
its time. Both are in this process and take turns; the numbers are medians of wall time. The peak of memory is that of a
process of its own, as users start it.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from app.cluster.client import Cluster
from app.cluster.discovery import resources
from app.cluster.scan import Scan
from app.policy.kinds import kinds_of
from app.sources.policies import read_policy
from tests.bench.page import machine, today, write_section
from tests.controlplane import ControlPlane
from tests.support.cluster import nvidia_runtime_class
from tests.support.memory import measured
from tests.support.population import populate

WANTED_RATIO = 2
WANTED_MEGABYTES = 150


class Found(NamedTuple):
    """Medians of seconds, the median of the ratio of a round, requests of a scan, objects that it reads, and MB."""

    listing: float
    scan: float
    ratio: float
    calls: int
    objects: int
    peak: float


def bench(rounds: int) -> Found:
    """Measure."""
    with tempfile.TemporaryDirectory() as folder, ControlPlane(Path(folder)) as plane:
        nvidia_runtime_class(plane)
        populate(plane)
        cluster = Cluster.connect(kubeconfig=str(plane.kubeconfig))
        policy, day = read_policy("shipped"), datetime.now(UTC).date()
        paths = [each.path(None) for each in resources(cluster, kinds_of(policy).keys())[0]]
        last = Scan(cluster, policy, day)

        def listing() -> None:
            for path in paths:
                for _ in cluster.pages(path):
                    pass

        def scan() -> None:
            nonlocal last
            last = Scan(cluster, policy, day)
            for _ in last.objects():
                pass

        times = [(spent(listing), spent(scan)) for _ in range(rounds)]
        before = cluster.calls
        scan()
        return Found(
            statistics.median(bare for bare, _ in times),
            statistics.median(scanned for _, scanned in times),
            statistics.median(scanned / bare for bare, scanned in times),
            cluster.calls - before,
            last.progress.objects,
            peak(plane),
        )


def spent(work: Callable[[], None]) -> float:
    """Seconds."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak(plane: ControlPlane) -> float:
    """The most memory that `gpugate scan` takes, in MB."""
    arguments = ["scan", "--policy", "shipped", "--fail-on", "none", "-o", "snapshot"]
    done = measured(*arguments, "--kubeconfig", str(plane.kubeconfig))
    if done.code:
        raise SystemExit(f"the scan failed: {done.err}")
    return done.peak


def table(found: Found) -> list[str]:
    """The result as lines of Markdown."""
    return [
        "| | ms | ratio | wanted | |",
        "|---|---:|---:|---:|---|",
        f"| listing | {found.listing * 1000:.0f} | 1.00 | | {found.objects:,} objects |",
        f"| scan | {found.scan * 1000:.0f} | {found.ratio:.2f} | {WANTED_RATIO} | {found.calls} requests |",
        f"| peak of memory | {found.peak:.0f} MiB | | {WANTED_MEGABYTES} MiB | a process of its own |",
    ]


def section(found: Found, rounds: int) -> str:
    """What is kept of a run."""
    return f"""
What `gpugate scan` costs on a cluster of 40 namespaces, 400 workloads and 2,000 pods, on a real API server beside it,
with the shipped policy. To list is to read the same lists page by page with the same client, and to do nothing else.

Latest run, {today()}: medians of {rounds} interleaved rounds.

{chr(10).join(table(found))}

{machine("kubernetes", "urllib3", "orjson")}.
"""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time and memory of gpugate scan, beside listing the same objects")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--write", action="store_true", help="keep the table in docs/benchmarks.md")
    options = parser.parse_args()
    found = bench(options.rounds)
    print(*table(found), sep="\n")
    if options.write:
        write_section("The scan", section(found, options.rounds))


if __name__ == "__main__":
    main()
