"""Finds Chromium for the tests of the board, and installs Debian's where there is none and that is allowed.

Run as a script it prints the path of the program as the last line of stdout, progress on stderr. It needs nothing but
the standard library.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_LOCK = Path(tempfile.gettempdir(), "gpugate-chromium.lock")
_HINT = "install Chromium (Debian: apt-get install chromium), or set GPUGATE_CHROMIUM to the path of one"


class BrowserError(Exception):
    """There is no Chromium, and it cannot be installed here."""


def chromium() -> Path:
    """The program: $GPUGATE_CHROMIUM, else one on PATH, else Debian's, installed now if this is root."""
    chosen = os.environ.get("GPUGATE_CHROMIUM")
    if chosen:
        if not os.access(chosen, os.X_OK):
            raise BrowserError(f"GPUGATE_CHROMIUM is {chosen}, which is no program that can be run")
        return Path(chosen)
    found = _on_path()
    if found:
        return found
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise BrowserError(f"there is no Chromium on PATH; {_HINT}")
    with _LOCK.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Whoever held the lock before may have installed it.
        return _on_path() or _installed()


def _on_path() -> Path | None:
    return next((Path(path) for path in map(shutil.which, NAMES) if path), None)


def _installed() -> Path:
    print("tools: installing Debian's chromium (a minute or two, once)", file=sys.stderr, flush=True)
    install = ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"]
    # The lists of a fresh image are empty or old.
    for command in (["apt-get", "update"], install):
        result = subprocess.run(
            command,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if result.returncode != 0 and command is install:
            raise BrowserError(f"{' '.join(command)} failed; {_HINT}\n{result.stdout[-2000:]}")
    found = _on_path()
    if found is None:
        raise BrowserError(f"apt-get installed chromium, and it is not on PATH; {_HINT}")
    return found


if __name__ == "__main__":
    try:
        print(chromium())
    except BrowserError as error:
        sys.exit(f"tools: {error}")
