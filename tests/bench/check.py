"""What the command line costs: `python -m tests.bench.check [--rounds N] [--pods N] [--format NAME] [--write]`.

Start-up: `gpugate check` of one manifest, and `gpugate --help`, beside `python -c pass`. Throughput: 1,000 pods as
`kubectl get -o yaml` prints them, beside composing the same YAML document by document with yaml.CSafeLoader and the
cyclic garbage collector off (no values, no checks, no verdicts); the same run over one pod is taken off, so start-up
does not count twice. All are processes of their own, the yardstick too, and take turns, so that what else the machine
does counts for all alike; the numbers are medians of CPU time, ratios those of neighbours. The peak of memory is that
of the process.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from app.report.formats import FORMATS  # noqa: E402
from tests.bench.documents import POD  # noqa: E402
from tests.bench.page import machine, today, write_section  # noqa: E402

DEPENDENCIES = ("click", "pydantic", "pyyaml", "orjson")
GPUGATE = [sys.executable, "-m", "app.cli"]
LIBRARIES = "import click, orjson, yaml._yaml; from pydantic import BaseModel, Field, ValidationError, create_model"
COMPOSE = """
import gc, sys, time, yaml
pods = open(sys.argv[1], "rb").read().split(b"\\n---\\n")
gc.disable()
start = time.process_time()
for pod in pods:
    yaml.CSafeLoader(pod).get_single_node()
print(time.process_time() - start)
"""


class Run(NamedTuple):
    """One run of one process: seconds of CPU, MiB at its peak."""

    cpu: float
    peak: float


class Row(NamedTuple):
    """What is measured: milliseconds of CPU, times its yardstick, and how many of these are wanted."""

    name: str
    cpu: float
    ratio: float
    wanted: float | None
    beside: str


class Found(NamedTuple):
    """What came of all rounds."""

    rows: list[Row]
    peak: float
    size: float


PEAK = 120  # MiB


def bench(rounds: int, count: int, output: str) -> Found:
    """Measure everything, in turns."""
    pods = [POD.format(n=n).encode() for n in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        one, many, stream = (Path(folder, name) for name in ("one.yaml", "many.yaml", "stream.yaml"))
        one.write_bytes(pods[0])
        many.write_bytes(as_list(pods))
        stream.write_bytes(b"\n---\n".join(pods))
        check = [*GPUGATE, "check", "--policy", "shipped", "--fail-on", "none", "-o", output]
        commands = {
            "pass": [sys.executable, "-c", "pass"],
            "help": [*GPUGATE, "--help"],
            "libraries": [sys.executable, "-c", LIBRARIES],
            "one": [*check, str(one)],
            "many": [*check, str(many)],
        }
        runs: dict[str, list[Run]] = {name: [] for name in commands}
        composing = []
        for _ in range(rounds):
            for name, command in commands.items():
                runs[name].append(run(command))
            composing.append(float(subprocess.check_output([sys.executable, "-c", COMPOSE, str(stream)])))
        size = many.stat().st_size / 1e6
    cpu = {name: [each.cpu for each in found] for name, found in runs.items()}
    judging = [many - one for many, one in zip(cpu["many"], cpu["one"], strict=True)]
    rows = [
        Row("check of one manifest", *compared(cpu["one"], cpu["pass"]), 6, "python -c pass"),
        Row("importing its libraries alone", *compared(cpu["libraries"], cpu["pass"]), None, "python -c pass"),
        Row("--help", *compared(cpu["help"], cpu["pass"]), 3, "python -c pass"),
        Row(f"check of {count:,} pods", *compared(judging, composing), 2, "composing them"),
    ]
    return Found(rows, max(each.peak for each in runs["many"]), size)


def compared(values: list[float], yardstick: list[float]) -> tuple[float, float]:
    """The median in milliseconds, and that of the ratios."""
    ratio = statistics.median(value / base for value, base in zip(values, yardstick, strict=True))
    return statistics.median(values) * 1000, ratio


def run(command: list[str]) -> Run:
    """Run a process, and see what it took."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, env=environment) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Run(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def as_list(pods: list[bytes]) -> bytes:
    """The pods as `kubectl get pods -o yaml` prints them."""
    items = b"".join(b"- " + pod.replace(b"\n", b"\n  ")[:-2] for pod in pods)
    return b"apiVersion: v1\nitems:\n" + items + b'kind: List\nmetadata:\n  resourceVersion: ""\n'


def table(found: Found) -> Iterator[str]:
    """The rows as Markdown."""
    yield "| | CPU ms | ratio | wanted | beside |"
    yield "|---|---:|---:|---:|---|"
    for row in found.rows:
        yield f"| {row.name} | {row.cpu:.0f} | {row.ratio:.2f} | {row.wanted or ''} | {row.beside} |"
    yield f"| peak of memory | {found.peak:.0f} MiB | | {PEAK} MiB | |"


def section(found: Found, rounds: int, output: str) -> str:
    """What is kept of a run."""
    return f"""
What the command line costs, in processes of their own that take turns. To compose is to parse YAML with PyYAML's C
loader into nodes, one document at a time, with the garbage collector off: no values, no checks, no verdicts. The pods
are those of `kubectl get pods -o yaml`, {found.size:.1f} MB; what a run over one pod takes is taken off there.
More than half of a short run is to import click, pydantic, PyYAML and orjson, which a row of its own tells.

Latest run, {today()}: medians of {rounds} interleaved rounds, `-o {output}`.

{chr(10).join(table(found))}

{machine(*DEPENDENCIES)}.
"""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="CPU of the command line, beside what it can't be faster than")
    parser.add_argument("--pods", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--format", choices=FORMATS, default=FORMATS[0])
    parser.add_argument("--write", action="store_true", help="keep the table in docs/benchmarks.md")
    options = parser.parse_args()
    found = bench(options.rounds, options.pods, options.format)
    print(*table(found), sep="\n")
    if options.write:
        write_section("The command line", section(found, options.rounds, options.format))


if __name__ == "__main__":
    main()
