"""How long `gpugate check` takes: `python tests/bench/check.py`.

Two ratios. Of 1,000 pods as `kubectl get -o yaml` prints them, to composing the same YAML document by document with
yaml.CSafeLoader and the cyclic garbage collector off: no values, no checks, no verdicts; the goal is 2. Of one
manifest, to `python -c pass`; the goal is 6. Both sides are processes of their own, of which start-up is part of the
second ratio only: for the first, the same run over one pod is taken off. Runs are interleaved, so that what else the
machine does counts for both alike; the numbers are medians. The peak of memory is that of the process.
"""

import argparse
import gc
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from app.report.formats import FORMATS  # noqa: E402
from tests.bench.documents import POD  # noqa: E402

CHECK = [sys.executable, "-m", "app.cli", "check", "--policy", "shipped", "--fail-on", "none"]


def main() -> None:
    """Measure, and print one line for each thing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--format", choices=FORMATS, default="text")
    options = parser.parse_args()

    pods = [POD.format(n=n).encode() for n in range(options.pods)]
    with tempfile.TemporaryDirectory() as folder:
        one, many = Path(folder, "one.yaml"), Path(folder, "many.yaml")
        one.write_bytes(pods[0])
        many.write_bytes(as_list(pods))
        times: dict[str, list[float]] = {"pass": [], "one": [], "many": [], "compose": []}
        peak = 0
        for _ in range(options.rounds):
            times["compose"].append(compose(pods))
            times["pass"].append(spent([sys.executable, "-c", "pass"]))
            times["one"].append(spent([*CHECK, "-o", options.format, str(one)]))
            times["many"].append(spent([*CHECK, "-o", options.format, str(many)]))
            peak = max(peak, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
        pairs = list(zip(times["many"], times["one"], times["compose"], strict=True))
        large = statistics.median((a - b) / c for a, b, c in pairs)
        start = statistics.median(a / b for a, b in zip(times["one"], times["pass"], strict=True))
        for name, values in times.items():
            print(f"{name:8} {statistics.median(values):6.3f} s")
        size = f"{options.pods} pods, {many.stat().st_size / 1e6:.1f} MB, -o {options.format}"
        print(f"{size}: {large:.2f} x composing; peak {peak / 1024:.0f} MB")
        print(f"one manifest: {start:.1f} x python -c pass")


def as_list(pods: list[bytes]) -> bytes:
    """The pods as `kubectl get pods -o yaml` prints them."""
    items = b"".join(b"- " + pod.replace(b"\n", b"\n  ")[:-2] for pod in pods)
    return b"apiVersion: v1\nitems:\n" + items + b'kind: List\nmetadata:\n  resourceVersion: ""\n'


def compose(pods: list[bytes]) -> float:
    """The yardstick: CPU seconds of this process."""
    gc.collect()
    gc.disable()
    start = time.process_time()
    for pod in pods:
        yaml.CSafeLoader(pod).get_single_node()
    spent = time.process_time() - start
    gc.enable()
    return spent


def spent(command: list[str]) -> float:
    """The CPU seconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
