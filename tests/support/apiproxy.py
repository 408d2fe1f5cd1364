"""A way to the real API server on which answers can be replaced by failures, as a load balancer in trouble does."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import orjson

from tests.controlplane import ControlPlane

Answer = tuple[int, Mapping[str, str], bytes]


@dataclass
class Fault:
    """What is answered instead, to so many requests that ``matches`` (method, path with query) selects."""

    status: int
    times: int = 1
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    matches: Callable[[str, str], bool] = lambda method, path: True
    drop: bool = False
    """Close the connection instead of answering, after the API server did what it was asked to."""

    def answer(self) -> Answer:
        status = {"kind": "Status", "apiVersion": "v1", "code": self.status, "message": f"made to fail: {self.status}"}
        content = self.body if isinstance(self.body, bytes) else orjson.dumps(self.body or status)
        return self.status, self.headers, content


class ApiProxy:
    """Passes requests on as the administrator; ``requests`` are those that came, ``POST /api/v1/namespaces?x=y``."""

    def __init__(self, plane: ControlPlane) -> None:
        self.faults: list[Fault] = []
        self.requests: list[str] = []
        self._plane = plane
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def kubeconfig(self, directory: Path) -> Path:
        """A kubeconfig that leads here."""
        return write_kubeconfig(directory / "proxied.kubeconfig", {"server": self.url}, {})

    def serve(self) -> None:
        self._server.serve_forever(poll_interval=0.05)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def take(self, method: str, path: str) -> Fault | None:
        with self._lock:
            self.requests.append(f"{method} {path}")
            for fault in self.faults:
                if fault.times > 0 and fault.matches(method, path):
                    fault.times -= 1
                    return fault
        return None

    def forward(self, method: str, path: str, body: bytes, content_type: str) -> Answer:
        status, content, headers = self._plane.client().raw(method, path, body or None, content_type)
        kept = {name: value for name, value in headers.items() if name in ("Content-Type", "Retry-After")}
        return status, kept, content

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                self.raw_requestline = self.rfile.readline(65537)
                if not self.raw_requestline or not self.parse_request():
                    self.close_connection = True
                    return
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                fault = proxy.take(self.command, self.path)
                kind = self.headers.get("Content-Type", "application/json")
                if fault is None or fault.drop:
                    answer = proxy.forward(self.command, self.path, body, kind)
                if fault is not None and fault.drop:
                    self.close_connection = True
                    return
                status, headers, content = answer if fault is None else fault.answer()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing."""

        return Handler


@contextmanager
def api_proxy(plane: ControlPlane) -> Iterator[ApiProxy]:
    """A proxy in front of the control plane until the end."""
    proxy = ApiProxy(plane)
    thread = threading.Thread(target=proxy.serve)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.close()
        thread.join()


def write_kubeconfig(path: Path, cluster: Mapping[str, Any], user: Mapping[str, Any], context: str = "test") -> Path:
    """A kubeconfig with one context."""
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "cluster", "cluster": dict(cluster)}],
        "users": [{"name": "user", "user": dict(user)}],
        "contexts": [{"name": context, "context": {"cluster": "cluster", "user": "user"}}],
        "current-context": context,
    }
    path.write_bytes(orjson.dumps(content))
    return path
