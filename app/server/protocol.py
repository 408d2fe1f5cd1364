"""uvicorn's httptools protocol with the bounds that it lacks, and a shorter way for reviews.

Bounds: header size, message size, the time that a request takes to arrive, the number of connections, and what
requests that have not arrived whole hold together. (How many are judged at a time needs no bound: judging awaits
nothing, so it is one.)

The shorter way: a POST of JSON of known length to a path of reviews, which is all that API servers send, is answered
from here, without an ASGI scope, a task and two writes; that is a third of what an answer costs. Every other request
goes through ASGI, which answers reviews just the same.
"""

import asyncio
from typing import Any, Final

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from app.server.body import JSON, answer_within
from app.server.connections import Connections, Reason
from app.server.limits import (
    FIRST_REQUEST_TIMEOUT,
    KEEP_ALIVE,
    MAX_BODY,
    MAX_HEADERS,
    MAX_HELD,
    MAX_MESSAGE,
    READ_TIMEOUT,
)
from app.server.reviews import Reviews, Target

_TIMED_OUT: Final = "the request did not arrive in time"
_HEADERS_TOO_LARGE: Final = "the request's headers are too large"
_MESSAGE_TOO_LARGE: Final = "the request is too large"
_TOO_MUCH_HELD: Final = "too much is being received at once; try again"
_HEAD: Final = b"content-type: application/json\r\ncontent-length: "
_END: Final = b"\r\n\r\n"
_END_AND_CLOSE: Final = b"\r\nconnection: close\r\n\r\n"
# API servers try again within their deadline if an answer asks for it.
_TRY_AGAIN: Final = b"\r\nretry-after: 1" + _END_AND_CLOSE
_OK: Final = STATUS_LINE[200] + _HEAD
# With one of these a request has more to it than a body of known length.
_UNUSUAL: Final = frozenset((b"transfer-encoding", b"expect", b"upgrade"))


class BoundedProtocol(HttpToolsProtocol):
    """One connection. ``reviews`` are answered on the shorter way, if there are any on this port.

    Deadlines are looked at once a second by ``check_deadlines``: a timer for each would cost more.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        loop: asyncio.AbstractEventLoop,
        reviews: Reviews | None,
        shared: Connections,
    ) -> None:
        super().__init__(config, server_state, app_state, loop)
        self._reviews = reviews
        self._shared = shared
        self._held = 0
        self._used = False
        self._last_heard = loop.time()
        self._receiving_since = 0.0
        self._received = 0
        self._in_headers = True
        # Of a review on the shorter way:
        self._target: Target | None = None
        self._body: bytes | bytearray = b""
        self._timer: asyncio.TimerHandle | None = None
        self._last = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """The connection is there, and its handshake is done. Over the limit, the one idle for longest goes."""
        super().connection_made(transport)
        self._shared.open += 1
        if self._shared.open > self._shared.most:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request. Sizes are checked between calls, so they hold to within one read of the loop."""
        now = self._last_heard = self.loop.time()
        if not self._receiving_since:
            self._receiving_since = now
        self._received += len(data)
        super().data_received(data)
        if self._receiving_since:
            if self._received > MAX_HEADERS:
                if self._in_headers:
                    self._end(431, _HEADERS_TOO_LARGE)
                elif self._received > MAX_MESSAGE:
                    self._end(413, _MESSAGE_TOO_LARGE)
            if self._target is not None and self._timer is None:
                seconds = answer_within(self.url.partition(b"?")[2])
                if seconds is not None:
                    self._timer = self.loop.call_later(seconds, self._late)
            self._hold(self._received)

    def on_message_begin(self) -> None:
        """A request begins. Its ASGI scope is made later, if it needs one."""
        self.url = b""
        self.headers = []
        self.expect_100_continue = False

    def on_headers_complete(self) -> None:
        """All headers are there: choose the way."""
        self._in_headers = False
        target = self._reviews.target_of_url(self.url) if self._reviews is not None else None
        if target is not None and self._usual():
            self._target = target
            return
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.expect_100_continue = url, expects
        self.headers.extend(headers)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        if self._target is None:
            super().on_body(body)
        elif not self._body:
            self._body = body
        else:
            if type(self._body) is bytes:
                self._body = bytearray(self._body)
            self._body += body

    def on_message_complete(self) -> None:
        """The whole request is there."""
        self._receiving_since = 0.0
        self._received = 0
        self._in_headers = True
        self._used = True
        if self._held:
            self._release()
        target = self._target
        if target is None:
            super().on_message_complete()
            return
        assert self._reviews is not None
        body, self._target, self._body = self._body, None, b""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        status, content = self._reviews.answer(target, body)
        close = self._last or self._reviews.draining or not self.parser.should_keep_alive()
        self._respond(status, content, close=close)

    def check_deadlines(self, now: float) -> None:
        """Close the connection if its request takes too long to arrive, or if it has been idle for too long."""
        if self._receiving_since:
            if now - self._receiving_since > READ_TIMEOUT:
                self._late()
        elif self.idle and now - self._last_heard > (KEEP_ALIVE if self._used else FIRST_REQUEST_TIMEOUT):
            self._close("idle")

    @property
    def idle(self) -> bool:
        """True while no request is on its way or being answered."""
        return not self._receiving_since and (self.cycle is None or self.cycle.response_complete)

    @property
    def last_heard(self) -> float:
        """When bytes came last, or the connection was made, in the loop's time."""
        return self._last_heard

    def shutdown(self) -> None:
        """The server stops: close, or let the request that is under way be the last."""
        if self._target is None:
            super().shutdown()
        else:
            self._last = True

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        if self._timer is not None:
            self._timer.cancel()
        self._shared.open -= 1
        self._release()
        super().connection_lost(exc)

    def _make_room(self) -> None:
        others = (each for each in self.connections if isinstance(each, BoundedProtocol) and each is not self)
        idle = [each for each in others if each.idle and not each.transport.is_closing()]
        ended = min(idle, key=lambda each: each.last_heard, default=self)
        self._shared.ended["limit"] += 1
        # Without a farewell, for which one that does not answer would keep its place.
        ended.transport.abort()

    def _hold(self, received: int) -> None:
        """Account for a request that has arrived in part; too much in all is the fault of the one that grows."""
        if not self._receiving_since:
            return
        shared = self._shared
        shared.held += received - self._held
        self._held = received
        if shared.held > MAX_HELD:
            shared.ended["memory"] += 1
            self._end(429, _TOO_MUCH_HELD)

    def _release(self) -> None:
        self._shared.held -= self._held
        self._held = 0

    def _late(self) -> None:
        self._shared.ended["deadline"] += 1
        self._end(408, _TIMED_OUT)

    def _close(self, reason: Reason) -> None:
        self._shared.ended[reason] += 1
        self.transport.close()

    def _usual(self) -> bool:
        """True if the request is as API servers send them, and nothing before it waits for an answer."""
        cycle = self.cycle
        if (
            self.parser.get_method() != b"POST"
            or (cycle is not None and not cycle.response_complete)
            or self.flow.write_paused
            or self.transport.is_closing()
        ):
            return False
        headers = dict(self.headers)
        length = headers.get(b"content-length")
        return (
            headers.get(b"content-type") == JSON
            and length is not None
            and int(length) <= MAX_BODY
            and _UNUSUAL.isdisjoint(headers)
        )

    def _respond(self, status: int, content: bytes, *, close: bool) -> None:
        """Write an answer in JSON, in one piece."""
        head = _OK if status == 200 else STATUS_LINE[status] + _HEAD
        end = _TRY_AGAIN if status == 429 else _END_AND_CLOSE if close else _END
        self.transport.write(b"%b%d%b%b" % (head, len(content), end, content))
        if close:
            self.transport.close()

    def _end(self, status: int, reason: str) -> None:
        """Give a request up before it is complete: answer, if that is still possible, and close."""
        self._receiving_since = 0.0
        self._target, self._body = None, b""
        self._release()
        cycle = self.cycle
        # While headers arrive, or a review, the cycle is still that of a request before.
        silent = cycle is None or cycle.response_complete if self._in_headers else True
        if silent and not self.transport.is_closing():
            self._respond(status, b'{"error":"%b"}' % reason.encode(), close=True)
        self.transport.close()
