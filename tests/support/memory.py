"""How much memory a command takes."""

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]

# The peak of the process itself: what wait4 says of a child counts the pages of its parent too.
_PROGRAM = """
import atexit, re, sys
from pathlib import Path
from app.cli.main import run
atexit.register(lambda: print(re.search("VmHWM.*", Path("/proc/self/status").read_text())[0], file=sys.stderr))
run()
"""


class Finished(NamedTuple):
    """``peak`` is the most memory that it had, in MiB."""

    code: int
    out: str
    err: str
    peak: float


def measured(*arguments: str, folder: Path = ROOT) -> Finished:
    """Run gpugate in a process of its own."""
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}){_PROGRAM}", *arguments]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    *lines, last = result.stderr.splitlines(keepends=True)
    peak = re.fullmatch(r"VmHWM:\s+(\d+) kB\n", last)
    assert peak is not None, result.stderr
    return Finished(result.returncode, result.stdout, "".join(lines), int(peak[1]) / 1024)
