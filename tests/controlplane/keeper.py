"""A process that owns a control plane on behalf of another, which may be killed at any time.

It starts the control plane when somebody first asks, through a socket. It ends when its standard input is
closed: the kernel does that when the owner dies, however it dies. So neither programs nor files are left, and
xdist's controller can own what its workers use.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from .build import BuildError
from .controlplane import ControlPlane
from .processes import StartError

# Starting takes seconds, building many minutes.
_REPLY_SECONDS = 3600.0
_STOP_SECONDS = 30.0


class Keeper:
    """The owner's end."""

    def __init__(self) -> None:
        # Short, since the address of a socket may have no more than 108 bytes.
        self._directory = Path(tempfile.mkdtemp(prefix="gpugate-"))
        self.address = self._directory / "keeper"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(self.address))
            # Listening before the process runs, so that a test that asks early waits in the backlog.
            listener.listen(128)
            package = __name__.rpartition(".")[0]
            root = Path(__file__).resolve().parents[package.count(".") + 1]
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(listener.fileno()), str(self._directory)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=[listener.fileno()],
                # Ctrl-C is for pytest, which closes standard input when its tests are torn down.
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path])},
            )

    def stop(self) -> None:
        """Ends the control plane, if one was started, and removes its files."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            # The programs die with it; what it would have removed stays.
            self._process.kill()
            self._process.wait()
            shutil.rmtree(self._directory, ignore_errors=True)


def ask(address: Path) -> ControlPlane:
    """The control plane of the keeper at the address. The first to ask waits until it is started."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_REPLY_SECONDS)
        connection.connect(str(address))
        with connection.makefile("rb") as reply:
            answer = json.loads(reply.read() or b'{"error": "the keeper of the control plane ended"}')
    if "directory" in answer:
        return ControlPlane.attach(Path(answer["directory"]))
    raise BuildError(answer["unbuilt"]) if "unbuilt" in answer else RuntimeError(answer["error"])


def main(descriptor: int, directory: Path) -> None:
    """Answers each connection with the coordinates, or with why there are none."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    threading.Thread(target=_end_with_owner, daemon=True).start()
    with contextlib.ExitStack() as stack, socket.socket(fileno=descriptor) as listener:
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        answer: dict[str, Any] = {}
        while True:
            connection, _ = listener.accept()
            with connection, contextlib.suppress(OSError):
                answer = answer or _start(directory / "controlplane", stack)
                connection.sendall(json.dumps(answer).encode())


def _start(directory: Path, stack: contextlib.ExitStack) -> dict[str, Any]:
    try:
        stack.enter_context(ControlPlane(directory))
    except BuildError as error:
        return {"unbuilt": str(error)}
    except (StartError, AssertionError, OSError) as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {"directory": str(directory)}


def _end_with_owner() -> None:
    sys.stdin.buffer.read()
    # To the main thread itself: only its system call must be interrupted.
    main_thread = threading.main_thread().ident
    assert main_thread is not None
    signal.pthread_kill(main_thread, signal.SIGTERM)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
