"""`gpugate serve` as a process of its own, over TLS, on ports that the system chooses."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import httpx
from prometheus_client.parser import text_string_to_metric_families

_START = 30.0
_STOP = 30.0
_RUN = "from app.cli.main import run; run()"
_ROOT = Path(__file__).resolve().parents[2]


class Reply(NamedTuple):
    """An HTTP answer; ``json`` is its body parsed."""

    status: int
    json: Any
    headers: httpx.Headers


Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]
"""Metric samples: (name, labels) to value."""


class Server:
    """A running server: ``with Server("shipped") as server: server.post("/mutate/enforce", review)``.

    With ``drains=False`` it is killed at the end: where an API server holds connections to it, that saves the time
    that a server gives those to notice. With ``waits=True`` it is one with ``--wait``, and has to.
    """

    def __init__(
        self,
        policy_path: str | Path = "shipped",
        *,
        cluster_facts: Path | None = None,
        cert_dir: Path | None = None,
        extra: Sequence[str] = (),
        drains: bool = True,
        waits: bool = False,
    ) -> None:
        self._drains = drains
        self._waits = waits
        self._folder = tempfile.TemporaryDirectory(prefix="gpugate-server-")
        folder = Path(self._folder.name)
        self.cert_dir = cert_dir or folder / "certs"
        self._output, self._errors = folder / "stdout", folder / "stderr"
        self._command = [sys.executable, "-c", _RUN, "serve", "--policy", str(policy_path), "--port", "0"]
        self._command += ["--metrics-port", "0", "--cert-dir", str(self.cert_dir), "--host", "127.0.0.1"]
        self._command += [*(() if cert_dir else ("--dev",)), *(("--wait",) if waits else ()), *extra]
        if cluster_facts:
            self._command += ["--cluster-facts", str(cluster_facts)]
        self._process: subprocess.Popen[bytes] | None = None
        self._clients = contextlib.ExitStack()

    def start(self) -> Self:
        """Start, and wait until it listens, or says that it waits. Raises AssertionError if it ends instead."""
        with self._output.open("ab") as output, self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                env={**os.environ, "PYTHONPATH": str(_ROOT), "PYTHONWARNINGS": "error"},
                start_new_session=True,
            )
        try:
            self._listening("waiting" if self._waits else "listening")
        except AssertionError:
            self.stop()
            raise
        return self

    def wait_until_listening(self) -> None:
        """Of a server that waited: until it listens."""
        self._listening("listening")

    def _listening(self, event: str) -> None:
        line = self.wait_for_log(event, timeout=_START)
        self.metrics_port = line["metrics_port"]
        self.metrics_url = f"http://127.0.0.1:{self.metrics_port}"
        self.metrics_client = self._clients.enter_context(httpx.Client(base_url=self.metrics_url, timeout=_START))
        if "port" in line:
            self.port = line["port"]
            self.url = f"https://127.0.0.1:{self.port}"
            self.client = self._clients.enter_context(self.new_client())

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Close the clients, send the signal, wait for the end; the exit code."""
        self._clients.close()
        assert self._process is not None
        if self._process.poll() is None:
            self._process.send_signal(number)
            try:
                self._process.wait(_STOP)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
                raise
        return self._process.returncode

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.stop(signal.SIGTERM if self._drains else signal.SIGKILL)
        finally:
            self._folder.cleanup()

    @property
    def pid(self) -> int:
        """Of the server's process."""
        assert self._process is not None
        return self._process.pid

    @property
    def running(self) -> bool:
        """True until the process has ended."""
        return self._process is not None and self._process.poll() is None

    def wait(self, timeout: float = _STOP) -> int:
        """Wait for the process to end by itself; the exit code."""
        assert self._process is not None
        return self._process.wait(timeout)

    def signal(self, number: int) -> None:
        """Send a signal."""
        os.kill(self.pid, number)

    @property
    def ca_file(self) -> Path:
        """The authority that signed the server's certificate."""
        return self.cert_dir / "ca.crt"

    def tls(self) -> ssl.SSLContext:
        """A context for clients of this server."""
        return ssl.create_default_context(cafile=str(self.ca_file))

    def new_client(self) -> httpx.Client:
        """A client with connections of its own."""
        return httpx.Client(base_url=self.url, verify=self.tls(), timeout=_START)

    def post(
        self, path: str, body: object, *, content_type: str | None = "application/json", method: str = "POST"
    ) -> Reply:
        """Send a body (bytes as they are, anything else as JSON) to the webhook port."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"content-type": content_type} if content_type is not None else {}
        return _reply(self.client.request(method, path, content=content, headers=headers))

    def get(self, path: str, *, metrics_port: bool = False) -> Reply:
        """GET from the webhook port, or from the metrics port."""
        return _reply((self.metrics_client if metrics_port else self.client).get(path))

    def metrics(self) -> Samples:
        """All samples of ``/metrics``."""
        text = self.metrics_client.get("/metrics").raise_for_status().text
        samples = (sample for family in text_string_to_metric_families(text) for sample in family.samples)
        return {(sample.name, frozenset(sample.labels.items())): sample.value for sample in samples}

    def metric(self, name: str, **labels: str) -> float:
        """The sum of the samples of this name that have these labels, among others."""
        wanted = labels.items()
        return sum(value for (found, has), value in self.metrics().items() if found == name and wanted <= has)

    def logs(self, event: str | None = None) -> list[dict[str, Any]]:
        """The lines that it logged so far, all or those of one event (``decision``, ``listening``, ...)."""
        whole, _, _ = self._output.read_bytes().rpartition(b"\n")
        lines = [json.loads(line) for line in whole.splitlines()]
        return [line for line in lines if event in (None, line["event"])]

    def forget_logs(self) -> None:
        """Throw away what it logged so far: a long run would fill the disk."""
        os.truncate(self._output, 0)

    def errors(self) -> str:
        """What it wrote to standard error."""
        return self._errors.read_text()

    def wait_for_log(
        self, event: str, accepts: Callable[[dict[str, Any]], bool] = lambda line: True, *, timeout: float = 10.0
    ) -> dict[str, Any]:
        """The first line of this event that is accepted; polls until there is one."""
        deadline = time.monotonic() + timeout
        while True:
            running = self.running
            for line in self.logs(event):
                if accepts(line):
                    return line
            if not running or time.monotonic() > deadline:
                raise AssertionError(f"no log line {event!r}; standard error:\n{self.errors()}\nlog: {self.logs()}")
            time.sleep(0.01)


def _reply(response: httpx.Response) -> Reply:
    is_json = response.headers.get("content-type", "").startswith("application/json")
    return Reply(response.status_code, response.json() if is_json else response.text, response.headers)
