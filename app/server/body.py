"""Reads the body of a review request, within the limits."""

import asyncio
import re
from typing import Final

from starlette.types import Receive, Scope

from app.server.limits import MAX_BODY, TIMEOUT_SHARE

JSON: Final = b"application/json"
_TIMEOUT: Final = re.compile(rb"(?:^|&)timeout=(\d{1,4}(?:\.\d{1,9})?)(m?s)(?:&|$)")


class BadRequest(Exception):
    """The request is no review; ``status`` is the HTTP status of the answer, the text its reason."""

    def __init__(self, status: int, reason: str) -> None:
        self.status = status
        super().__init__(reason)


def answer_within(query: bytes) -> float | None:
    """How long an answer may take for a query such as ``timeout=3s``, in seconds; None without one.

    A little less than the API server waits: an answer that comes in time tells what is wrong, its timeout does not.
    """
    found = _TIMEOUT.search(query)
    if found is None:
        return None
    return float(found[1]) / (1000 if found[2] == b"ms" else 1) * TIMEOUT_SHARE


async def read_body(scope: Scope, receive: Receive) -> bytes | None:
    """The body of a POST of JSON; None if the client went away before its end.

    Raises BadRequest: 405 for another method, 415 for another content type, 413 for more than MAX_BODY bytes (as
    soon as that is known), 408 if the body does not arrive within what the request's ``?timeout=`` leaves. A missing
    content type is taken for JSON.
    """
    if scope["method"] != "POST":
        raise BadRequest(405, f"{scope['path']} takes POST, not {scope['method']}")
    for name, value in scope["headers"]:
        if name == b"content-type":
            if value != JSON and value.partition(b";")[0].strip().lower() != JSON:
                raise BadRequest(415, f"expected application/json, found {value.decode('latin-1')!r}")
        elif name == b"content-length" and int(value) > MAX_BODY:
            raise BadRequest(413, f"the body has {int(value)} bytes; the limit is {MAX_BODY}")
    message = await receive()
    if message["type"] != "http.request":
        return None
    body: bytes = message["body"]
    if not message["more_body"]:
        return body
    seconds = answer_within(scope["query_string"])
    try:
        async with asyncio.timeout(seconds):
            return await _rest(body, receive)
    except TimeoutError as error:
        raise BadRequest(
            408, f"the body did not arrive within {seconds:g} s, which the request's timeout asks for"
        ) from error


async def _rest(first: bytes, receive: Receive) -> bytes | None:
    body = bytearray(first)
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message["body"]
        if len(body) > MAX_BODY:
            raise BadRequest(413, f"the body is longer than {MAX_BODY} bytes")
        if not message["more_body"]:
            return bytes(body)
