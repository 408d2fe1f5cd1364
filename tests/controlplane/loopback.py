"""A webhook as small as can be, for trying that the API server reaches a process on loopback."""

from __future__ import annotations

import base64
import http.server
import json
import ssl
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from .certificates import Authority


class DenyingWebhook:
    """Serves HTTPS on a free port and refuses whatever it is asked about."""

    def __init__(self, directory: Path, message: str) -> None:
        authority = Authority(directory)
        credentials = directory / "webhook.pem"
        credentials.write_bytes(b"".join(authority.issue_server()))
        self._ca_bundle = base64.b64encode(authority.certificate.read_bytes()).decode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                response = {
                    "uid": review["request"]["uid"],
                    "allowed": False,
                    "status": {"code": 403, "message": message},
                    "auditAnnotations": {"mode": "enforce"},
                }
                body = json.dumps({**review, "request": None, "response": response}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing: the tests' output is no access log."""

        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(credentials)
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever)

    def configuration(self, namespace: str) -> dict[str, Any]:
        """A ValidatingWebhookConfiguration for the pods made in the namespace, with its name."""
        return {
            "metadata": {"name": namespace},
            "webhooks": [
                {
                    "name": "deny.example.com",
                    "clientConfig": {
                        "url": f"https://127.0.0.1:{self._server.server_address[1]}/deny",
                        "caBundle": self._ca_bundle,
                    },
                    "rules": [
                        {
                            "apiGroups": [""],
                            "apiVersions": ["v1"],
                            "operations": ["CREATE"],
                            "resources": ["pods"],
                        }
                    ],
                    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                }
            ],
        }

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
