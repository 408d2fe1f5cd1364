"""Runs a keeper until a signal says stop: the loop, and the port of health and metrics."""

import json
import signal
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import socket
from time import monotonic
from types import FrameType
from typing import Final

from prometheus_client.exposition import choose_encoder

from app.cluster.keeper.keeper import Keeper
from app.cluster.keeper.log import Log, Metrics
from app.cluster.keeper.settings import Settings
from app.cluster.keeper.times import LONGEST_PAUSE, STUCK

_LAST_LOOK: Final = 5.0
"""Seconds that a look may take to end once the keeper is told to stop. Every write is whole, so any may be the last."""


class Loop:
    """Looks again and again, less often while the cluster cannot be reached."""

    def __init__(self, keeper: Keeper, interval: float, log: Log) -> None:
        self._keeper = keeper
        self._interval = interval
        self._log = log
        self.stop = threading.Event()
        self.last_end = monotonic()

    def run(self) -> None:
        """Look until told to stop. What is wrong with the keeper itself is logged and tried again, too."""
        pause = self._interval
        while not self.stop.is_set():
            try:
                done = self._keeper.step()
            except Exception as error:  # noqa: BLE001 - a keeper that ends stops renewing certificates
                self._log.event("failed", "error", error=repr(error))
                done = False
            self.last_end = monotonic()
            pause = self._interval if done else min(pause * 2, max(LONGEST_PAUSE, self._interval))
            self.stop.wait(pause)


def run(keeper: Keeper, settings: Settings, log: Log, metrics: Metrics, bound: socket) -> None:
    """Keep until SIGTERM or SIGINT. ``bound`` listens for health and metrics."""
    loop = Loop(keeper, settings.interval, log)
    # A look may hang in a read of the API server, and need not be waited for.
    worker = threading.Thread(target=loop.run, name="keeper", daemon=True)
    server = _http_server(bound, metrics, lambda: monotonic() - loop.last_end)
    listener = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
    stopping = threading.Event()

    def asked_to_stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature is Python's
        loop.stop.set()
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, asked_to_stop)
    log.event("listening", metrics_port=bound.getsockname()[1], namespace=settings.namespace)
    worker.start()
    listener.start()
    stopping.wait()
    worker.join(_LAST_LOOK)
    server.shutdown()
    server.server_close()
    log.event("stopped", in_the_middle_of_a_look=worker.is_alive())


def _http_server(bound: socket, metrics: Metrics, quiet: Callable[[], float]) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if path == "/metrics":
                encode, content_type = choose_encoder(self.headers.get("accept", ""))
                self._answer(200, encode(metrics.registry), content_type)
            elif path in ("/healthz", "/readyz"):
                # The API server being away is no reason to be restarted.
                stuck = quiet() > STUCK
                status = {"status": f"no look ended in {STUCK:.0f} s" if stuck else "ok"}
                self._answer(503 if stuck else 200, json.dumps(status).encode(), "application/json")
            else:
                error = {"error": "there is nothing here; there are /healthz and /metrics"}
                self._answer(404, json.dumps(error).encode(), "application/json")

        def _answer(self, status: int, content: bytes, content_type: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the signature is Python's
            """Probes are not worth a line."""

    server = ThreadingHTTPServer(bound.getsockname()[:2], Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = bound
    server.daemon_threads = True
    return server
