"""Processes that end with the one that started them, and what they wrote."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

# Asks the kernel to kill the program when its parent dies, however it dies, then becomes the program. A
# preexec_fn would do the same but may deadlock when other threads hold locks.
_PR_SET_PDEATHSIG = 1
_LAUNCHER = f"""
import ctypes, os, sys
if ctypes.CDLL(None, use_errno=True).prctl({_PR_SET_PDEATHSIG}, {int(signal.SIGKILL)}, 0, 0, 0) != 0:
    sys.exit("prctl: " + os.strerror(ctypes.get_errno()))
if os.getppid() != int(sys.argv[1]):
    sys.exit("the parent is gone")
os.execv(sys.argv[2], sys.argv[2:])
"""
_TAIL_LINES = 15
# Below Linux's ephemeral ports (from 32768): no outgoing connection, no bind to port 0 takes one meanwhile.
_PORTS = range(20000, 32000)


class StartError(Exception):
    """A part of the control plane did not start. The message ends with what its programs logged last."""


class Processes:
    """The programs of one control plane, by name.

    The kernel ends them when the thread that started them ends, so that must be one that lasts.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, program: Path, arguments: Sequence[str]) -> None:
        """Starts a program; its output goes to <directory>/<name>.log."""
        command = [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(os.getpid()), str(program), *arguments]
        with (self._directory / f"{program.name}.log").open("ab") as log:
            self._running[program.name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._directory,
                env=environment(self._directory),
                # Ctrl-C reaches the terminal's whole process group; teardown still needs the server.
                start_new_session=True,
            )

    def check(self) -> None:
        """Raises StartError when a program has ended by itself."""
        for name, process in self._running.items():
            if process.poll() is not None:
                raise StartError(f"{name} ended with status {process.returncode}\n{self.tails()}")

    def stop(self, names: Sequence[str], grace: float) -> None:
        """Ends the named programs, all at once: asked first, killed after the grace."""
        processes = [self._running.pop(name) for name in names if name in self._running]
        for process in processes:
            process.terminate()
        deadline = time.monotonic() + grace
        for process in processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait()

    def names(self) -> list[str]:
        """Of the programs that were started and not stopped."""
        return list(self._running)

    def tails(self) -> str:
        """The last lines of every log."""
        parts = []
        for log in sorted(self._directory.glob("*.log")):
            lines = log.read_text(errors="replace").splitlines()[-_TAIL_LINES:]
            parts.append("\n".join([f"--- {log.name}", *lines]))
        return "\n".join(parts)


def environment(home: Path) -> dict[str, str]:
    """The environment of every program: no proxy, and no settings or caches of whoever runs the tests."""
    return {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(home), "LANG": "C.UTF-8"}


def free_ports(count: int) -> list[int]:
    """Ports on loopback that nothing listens on."""
    ports: list[int] = []
    with contextlib.ExitStack() as held:
        while len(ports) < count:
            listener = held.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            with contextlib.suppress(OSError):
                port = random.SystemRandom().choice(_PORTS)
                listener.bind(("127.0.0.1", port))
                ports.append(port)
    return ports
