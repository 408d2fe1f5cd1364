"""A webhook that admits everything, and remembers which entry of which configuration called it."""

from __future__ import annotations

import base64
import http.server
import json
import ssl
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from app.admission.webhook import Phase
from app.manifests.client import Url
from app.manifests.objects import objects
from app.manifests.parts import Scope
from app.policy.compiled import Policy
from tests.controlplane import ControlPlane
from tests.controlplane.certificates import Authority

COLLECTIONS = {
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}
_API = "/apis/admissionregistration.k8s.io/v1"


class Call(NamedTuple):
    """A review: the configuration's label in the test, and the name of the entry without its domain."""

    configuration: str
    entry: str

    @property
    def phase(self) -> Phase:
        return "mutate" if self.entry.startswith("mutate-") else "validate"


class Recorder:
    """Serves HTTPS on a free port of 127.0.0.1, and installs configurations that call it."""

    def __init__(self, plane: ControlPlane, directory: Path) -> None:
        self._plane = plane
        authority = Authority(directory)
        credentials = directory / "recorder.pem"
        credentials.write_bytes(b"".join(authority.issue_server()))
        self._bundle = authority.certificate.read_bytes()
        self._installed: list[str] = []
        self._calls: list[Call] = []
        calls = self._calls

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                _, configuration, entry = self.path.partition("?")[0].split("/")
                calls.append(Call(configuration, entry))
                response = {"uid": review["request"]["uid"], "allowed": True}
                body = json.dumps({**review, "request": None, "response": response}).encode()
                head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
                self.wfile.write(head.encode() + body)

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing: the tests' output is no access log."""

        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(credentials)
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for path in self._installed:
            self._plane.client().delete(path)
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def install(self, label: str, policy: Policy, selector: dict[str, str], scope: Scope = "tight") -> None:
        """The policy's configurations, for the namespaces with the selector's labels."""
        for obj in objects(policy, Url("https://127.0.0.1:1"), scope):
            if "webhooks" in obj:
                self._install(label, obj, selector)

    def _install(self, label: str, obj: dict[str, Any], selector: dict[str, str]) -> None:
        obj["metadata"]["name"] = "-".join((obj["metadata"]["name"], label, *selector.values()))
        own = [{"key": key, "operator": "In", "values": [value]} for key, value in selector.items()]
        for webhook in obj["webhooks"]:
            url = f"https://127.0.0.1:{self._server.server_address[1]}/{label}/{webhook['name'].partition('.')[0]}"
            webhook["clientConfig"] = {"url": url, "caBundle": base64.b64encode(self._bundle).decode()}
            webhook["namespaceSelector"] = {
                "matchExpressions": [*webhook["namespaceSelector"].get("matchExpressions", ()), *own]
            }
        collection = f"{_API}/{COLLECTIONS[obj['kind']]}"
        self._plane.client().post(collection, obj).expect(201)
        self._installed.append(f"{collection}/{obj['metadata']['name']}")

    def calls(self) -> list[Call]:
        """The calls since the last time that this was asked. A request's are all made before it is answered."""
        found, self._calls[:] = list(self._calls), []
        return found
