"""Requests to an API server as bytes: credentials, timeouts, and asking again."""

import random
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlencode

import orjson

from app import __version__
from app.admission.review import printable
from app.cluster.connection import Connection, renewed
from app.cluster.errors import ClusterError, Unreachable, error_of

_CONNECT_SECONDS: Final = 5.0
_READ_SECONDS: Final = 65.0
"""The API server itself ends a request after 60 s (--request-timeout)."""

_ATTEMPTS: Final = 4
_FIRST_PAUSE: Final = 0.25
_LONGEST_PAUSE: Final = 5.0
"""Seconds between attempts: twice as long each time, or what the server asks for, but never longer than this."""
_READS: Final = frozenset({429, 500, 502, 503, 504})
_WRITES: Final = frozenset({429, 503})
"""What is asked again. Of a write only what the API server says before it does anything: the others may be done."""


class Transport:
    """One API server. May be used by several threads at once."""

    def __init__(self, made: Connection) -> None:
        self.calls = 0
        self._live = _live(made)

    @property
    def connection(self) -> Connection:
        """How the API server is reached."""
        return self._live.connection

    def send(self, method: str, path: str, body: Any, query: Mapping[str, Any], content_type: str) -> bytes:
        """The body of the answer, asked for up to four times; raises ClusterError."""
        attempt = 1
        while True:
            try:
                response = self._response(method, path, body, query, content_type, _READ_SECONDS)
                content: bytes = response.data
                if response.status < 300:
                    return content
                error, after = self._error(response, method, path, query), response.headers.get("Retry-After")
                again = response.status in (_READS if method == "GET" else _WRITES)
            except _network_errors() as failure:
                error, after = self._unreachable(failure), None
                again = method == "GET" or _never_sent(failure)
            if not again or attempt == _ATTEMPTS:
                raise error
            time.sleep(_pause(attempt, after))
            attempt += 1

    def lines(self, path: str, query: Mapping[str, Any], seconds: float) -> Iterator[bytes]:
        """The lines of an answer that goes on for so long, as they come; raises ClusterError."""
        response = None
        try:
            response = self._response("GET", path, None, query, "", seconds + _READ_SECONDS)
            if response.status >= 300:
                raise self._error(response, "GET", path, query)
            rest = b""
            for chunk in response.stream(1 << 16):
                *lines, rest = (rest + chunk).split(b"\n")
                yield from lines
        except _network_errors() as failure:
            raise self._unreachable(failure) from failure
        finally:
            if response is not None:
                response.close()

    def _response(
        self, method: str, path: str, body: Any, query: Mapping[str, Any], content_type: str, seconds: float
    ) -> Any:
        """The answer, its body not read yet. With credentials that are no longer good, once again with new ones."""
        response = self._request(method, path, body, query, content_type, seconds)
        if response.status == 401:
            response.drain_conn()
            self._live = _live(renewed(self.connection))
            response = self._request(method, path, body, query, content_type, seconds)
        return response

    def _request(
        self, method: str, path: str, body: Any, query: Mapping[str, Any], content_type: str, seconds: float
    ) -> Any:
        from urllib3 import Timeout

        live = self._live
        configuration = live.connection.configuration
        headers = {"Accept": "application/json", "User-Agent": f"gpugate/{__version__}"}
        for setting in configuration.auth_settings().values():  # renews a token that is about to expire
            headers[setting["key"]] = setting["value"]
        if body is not None:
            headers["Content-Type"] = content_type
        self.calls += 1
        return live.pools.request(
            method,
            f"{configuration.host}{quote(path)}{_query(query)}",
            body=None if body is None else orjson.dumps(body),
            headers=headers,
            timeout=Timeout(connect=_CONNECT_SECONDS, read=seconds),
            retries=False,
            redirect=False,
            preload_content=False,
        )

    def _error(self, response: Any, method: str, path: str, query: Mapping[str, Any]) -> ClusterError:
        try:
            answer = orjson.loads(response.data)
        except orjson.JSONDecodeError:
            answer = {"message": response.data[:200].decode("utf-8", "replace")}
        status = answer if type(answer) is dict else {}
        return error_of(response.status, status, method, path, self.connection.where, watch=bool(query.get("watch")))

    def _unreachable(self, failure: Exception) -> Unreachable:
        host = self.connection.configuration.host
        return Unreachable(f"{self.connection.where} cannot be reached at {host}: {_reason(failure)}")


class _Live(NamedTuple):
    """A connection, and its urllib3 PoolManager."""

    connection: Connection
    pools: Any


def _live(made: Connection) -> _Live:
    from kubernetes.client import ApiClient

    return _Live(made, ApiClient(made.configuration).rest_client.pool_manager)


def _query(query: Mapping[str, Any]) -> str:
    """Booleans as the API server reads them; None is left out."""
    given = {
        key: str(value).lower() if isinstance(value, bool) else value
        for key, value in query.items()
        if value is not None
    }
    return f"?{urlencode(given)}" if given else ""


def _pause(attempt: int, after: str | None) -> float:
    """Seconds to wait after this attempt, from 1; ``after`` is the header Retry-After. Clients should not all return at
    one time."""
    asked = float(after) if after and after.isdigit() else _FIRST_PAUSE * 2 ** (attempt - 1)
    return min(asked, _LONGEST_PAUSE) * random.uniform(0.75, 1.25)  # noqa: S311 - no secret


def _network_errors() -> type[Exception]:
    from urllib3.exceptions import HTTPError

    return HTTPError


def _never_sent(failure: Exception) -> bool:
    from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

    return isinstance(failure, (NewConnectionError, ConnectTimeoutError))


def _reason(failure: Exception) -> str:
    """Why there was no answer, in words of ours where the library's say where in it that was found."""
    from ssl import SSLEOFError
    from ssl import SSLError as TLSFailure

    from urllib3.exceptions import NameResolutionError, NewConnectionError, SSLError
    from urllib3.exceptions import TimeoutError as NoAnswer

    text = printable(" ".join(str(failure).split()))
    if isinstance(failure, NameResolutionError):
        return "its name is not known"
    if isinstance(failure, NoAnswer) and not isinstance(failure, NewConnectionError):
        return "no answer in time"
    if isinstance(failure, SSLError) and "CERTIFICATE_VERIFY_FAILED" in text:
        return f"its certificate is not trusted ({text.rpartition('certificate verify failed: ')[2].split(' (')[0]})"
    cause = failure.__cause__ or failure.__context__
    if isinstance(cause, SSLEOFError):
        return "it closes the connection before TLS is agreed on"
    if isinstance(cause, TLSFailure) and cause.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
        return "it does not speak TLS"
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror.lower()
    return text.rpartition(">: ")[2] or text
