"""Who may ask the board for what: it shows a cluster, and may change it, with the rights of who started it.

Other pages in the same browser can send requests here too. Against them: the Host must be a name of this machine, or a
name that an attacker points at 127.0.0.1 would make his page same-origin (DNS rebinding); what changes something needs
a POST from a page of this origin, and the token that only such a page can read. The port may be another, that of a
forwarding such as ssh's.

Other users of the machine can reach the port. They can read, and change nothing: that also needs the key that was
printed for who started the server, which the browser keeps in a cookie.
"""

import re
import secrets
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

Refuse = Callable[[int, str, str], ASGIApp]
"""Makes the answer to a request that is refused, of a status, a title and a text."""

_HOST: Final = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?", re.ASCII)
_SAFE: Final = frozenset({"GET", "HEAD"})
_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not "no-referrer": with that, browsers send "Origin: null" with forms of our own pages.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """ASGI middleware: refuses what comes from elsewhere, and adds the headers that browsers protect pages by."""

    def __init__(self, app: ASGIApp, refuse: Refuse) -> None:
        self._app = app
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        answer = self._refusal(scope["method"], Headers(scope=scope)) or self._app
        await answer(scope, receive, _with_headers(send))

    def _refusal(self, method: str, headers: Headers) -> ASGIApp | None:
        host = headers.get("host", "")
        if not _HOST.fullmatch(host):
            return self._refuse(421, "Not this address", "The board answers at 127.0.0.1 and localhost only.")
        if method in _SAFE:
            return None
        if method != "POST":
            return self._refuse(405, "Not that way", f"The board does not take {method[:20]}.")
        if headers.get("origin") != f"http://{host}" or headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return self._refuse(403, "Not from there", "The board takes changes from its own pages only.")
        return None


def _with_headers(send: Send) -> Callable[[Message], Awaitable[None]]:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
        await send(message)

    return sending


class Session:
    """The secrets of one run: the ``token`` of forms, and the ``key`` of who started it, kept in a cookie."""

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(32)
        self.key = secrets.token_urlsafe(32)
        # Cookies are for a host whatever the port: another board's is another cookie.
        self.cookie = f"gpugate-board-{port}"

    def sent_token(self, token: str) -> bool:
        """True if a form brought the token."""
        return secrets.compare_digest(token.encode(), self.token.encode())

    def is_key(self, key: str) -> bool:
        """True for the key."""
        return secrets.compare_digest(key.encode(), self.key.encode())

    def knows(self, request: Request) -> bool:
        """True if the request comes from the browser of who started the server."""
        return self.is_key(request.cookies.get(self.cookie, ""))
