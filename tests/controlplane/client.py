"""A thin client of the Kubernetes API: raw dicts in and out, nothing dropped or defaulted on the way."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import time
import urllib.parse
from collections.abc import Mapping
from typing import Any, NamedTuple

# The API server closes a connection that is idle for 90 s; sending on it then would fail half-way.
_IDLE_SECONDS = 60.0
MERGE_PATCH = "application/merge-patch+json"


class Response(NamedTuple):
    """Status, body and headers. `headers.get_all("Warning")` are the warnings that kubectl prints."""

    status: int
    body: dict[str, Any]
    headers: http.client.HTTPMessage

    def expect(self, *statuses: int) -> dict[str, Any]:
        """The body, after checking the status: any 2xx when none is named."""
        expected = self.status in statuses if statuses else 200 <= self.status < 300
        if not expected:
            wanted = " or ".join(map(str, statuses)) or "2xx"
            raise AssertionError(f"the API server answered {self.status}, not {wanted}: {json.dumps(self.body)}")
        return self.body


class Client:
    """Keeps one connection alive per thread. Reads no proxy settings: the API server is on loopback."""

    def __init__(self, host: str, port: int, context: ssl.SSLContext, timeout: float = 60.0) -> None:
        self._host = host
        self._port = port
        self._context = context
        self._timeout = timeout
        self._local = threading.local()
        self._connections: list[http.client.HTTPSConnection] = []

    def get(self, path: str, params: Mapping[str, str] | None = None) -> Response:
        return self.request("GET", path, params=params)

    def post(self, path: str, body: Any, params: Mapping[str, str] | None = None) -> Response:
        return self.request("POST", path, body, params=params)

    def put(self, path: str, body: Any, params: Mapping[str, str] | None = None) -> Response:
        return self.request("PUT", path, body, params=params)

    def patch(
        self,
        path: str,
        body: Any,
        content_type: str = MERGE_PATCH,
        params: Mapping[str, str] | None = None,
    ) -> Response:
        return self.request("PATCH", path, body, content_type, params)

    def delete(self, path: str, body: Any = None, params: Mapping[str, str] | None = None) -> Response:
        return self.request("DELETE", path, body, params=params)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        content_type: str = "application/json",
        params: Mapping[str, str] | None = None,
    ) -> Response:
        """Sends the body as JSON, bytes as they are. An answer that is no JSON object is under "text"."""
        status, content, headers = self.raw(method, path, body, content_type, params)
        try:
            parsed = json.loads(content) if content else {}
        except ValueError:
            parsed = None
        answer = parsed if isinstance(parsed, dict) else {"text": content.decode(errors="replace")}
        return Response(status, answer, headers)

    def raw(
        self,
        method: str,
        path: str,
        body: Any = None,
        content_type: str = "application/json",
        params: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes, http.client.HTTPMessage]:
        """Like request, with the answer's bytes as they are."""
        target = f"{path}?{urllib.parse.urlencode(params)}" if params else path
        headers = {"Accept": "application/json, */*"}
        payload: bytes | None = None
        if body is not None:
            payload = body if isinstance(body, bytes) else json.dumps(body).encode()
            headers["Content-Type"] = content_type
        connection = self._connection()
        try:
            connection.request(method, target, payload, headers)
            with connection.getresponse() as response:
                content = response.read()
                received = response.headers
        except BaseException:
            # Whatever is left on the connection would be read as the answer to the next request.
            connection.close()
            raise
        self._local.used = time.monotonic()
        return response.status, content, received

    def close(self) -> None:
        """Closes the connections of every thread; those that use it again connect anew."""
        for connection in self._connections:
            connection.close()

    def _connection(self) -> http.client.HTTPSConnection:
        connection: http.client.HTTPSConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = http.client.HTTPSConnection(
                self._host, self._port, timeout=self._timeout, context=self._context
            )
            self._local.connection = connection
            self._connections.append(connection)
        elif time.monotonic() - getattr(self._local, "used", 0.0) > _IDLE_SECONDS:
            # It connects anew by itself.
            connection.close()
        return connection
