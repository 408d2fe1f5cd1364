"""How long `gpugate scan` takes, beside listing the same objects: `python -m tests.bench.scan`.

On a control plane of its own, with the 40 namespaces, 400 workloads and 2,000 pods of tests/support/population.py. The
yardstick is the same client reading the same lists page by page and doing nothing with the objects; the goal is twice
its time. Both are in this process, interleaved; the numbers are medians of wall time. The peak of memory is that of a
process of its own, as users start it.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from app.cluster.client import Cluster
from app.cluster.discovery import resources
from app.cluster.scan import Scan
from app.policy.kinds import kinds_of
from app.sources.policies import read_policy
from tests.controlplane import ControlPlane
from tests.support.cluster import nvidia_runtime_class
from tests.support.population import populate


def main() -> None:
    """Measure, and print one line for each thing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ControlPlane(Path(folder)) as plane:
        nvidia_runtime_class(plane)
        populate(plane)
        cluster = Cluster.connect(kubeconfig=str(plane.kubeconfig))
        listed, read = lister(cluster)
        policy, today = read_policy("shipped"), datetime.now(UTC).date()

        def scan() -> None:
            for _ in Scan(cluster, policy, today).objects():
                pass

        times = [(spent(listed), spent(scan)) for _ in range(options.rounds)]
        before = cluster.calls
        scan()
        calls = cluster.calls - before
        print(f"listing  {statistics.median(each[0] for each in times):6.3f} s, {read()} objects")
        print(f"scan     {statistics.median(each[1] for each in times):6.3f} s, {calls} requests")
        ratio = statistics.median(scanned / bare for bare, scanned in times)
        print(f"scan: {ratio:.2f} x listing; peak {peak(plane):.0f} MB")


def lister(cluster: Cluster) -> tuple[Callable[[], None], Callable[[], int]]:
    """What reads all lists, and how many objects the last reading found."""
    paths = [each.path(None) for each in resources(cluster, kinds_of(read_policy("shipped")).keys())]
    counts: list[int] = []

    def listed() -> None:
        counts.append(sum(len(page) for path in paths for page in cluster.pages(path)))

    return listed, lambda: counts[-1]


def spent(work: Callable[[], None]) -> float:
    """Seconds."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak(plane: ControlPlane) -> float:
    """The most memory that `gpugate scan` takes, in MB."""
    command = [sys.executable, "-m", "app.cli", "scan", "--policy", "shipped", "--fail-on", "none", "-o", "snapshot"]
    process = subprocess.Popen([*command, "--kubeconfig", str(plane.kubeconfig)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit("the scan failed")
    return usage.ru_maxrss / 1024


if __name__ == "__main__":
    main()
