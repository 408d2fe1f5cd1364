"""The reviews: what answers `/mutate/{mode}`, `/validate/{mode}`, `/advise/{mode}` and `/namespace`.

FastAPI's routing alone costs more than judging a pod, so this stands in front of it: as an ASGI application that hands
on every other path, and, for requests as the API server sends them, called by the protocol itself.
"""

import traceback
from time import perf_counter
from typing import Final, NamedTuple

import orjson
from starlette.types import ASGIApp, Receive, Scope, Send

from app.admission.advice import advise, refuses
from app.admission.namespace import review_namespace
from app.admission.review import NotAReview, Request, printable, read_request
from app.admission.webhook import Answer, failure, review
from app.model.context import Context
from app.policy.compiled import Mode
from app.server.body import BadRequest, read_body
from app.server.counts import Endpoint
from app.server.limits import MAX_TEXT
from app.server.service import Service

ENDPOINTS: Final[tuple[Endpoint, ...]] = ("mutate", "validate", "advise")
"""What is asked in a mode."""
MODES: Final[tuple[Mode, ...]] = ("audit", "warn", "assist", "enforce")
"""The modes that are called. Namespaces in `disabled` have no entry in the webhook configurations."""

_KNOWN_URLS: Final = 256


class Target(NamedTuple):
    """What a path asks for; ``digest`` is that of the scope which the caller was configured for, "" without one."""

    path: str
    endpoint: Endpoint
    mode: Mode
    digest: str = ""


class Reviews:
    """The ASGI application; ``otherwise`` is called for every path that is not of reviews."""

    def __init__(self, service: Service, otherwise: ASGIApp) -> None:
        self._service = service
        self._otherwise = otherwise
        targets = [Target(f"/{endpoint}/{mode}", endpoint, mode) for endpoint in ENDPOINTS for mode in MODES]
        # A namespace is always admitted, as in audit.
        targets.append(Target("/namespace", "namespace", "audit"))
        self._targets = {target.path: target for target in targets}
        self._urls: dict[bytes, Target] = {}

    @property
    def draining(self) -> bool:
        """True if connections are to be closed after their next answer."""
        return self._service.draining

    def target(self, path: str) -> Target | None:
        """What the path asks for, None if it is no path of reviews."""
        target = self._targets.get(path)
        if target is None:
            prefix, _, digest = path.rpartition("/")
            target = self._targets.get(prefix) if digest else None
            return target._replace(digest=digest) if target else None
        return target

    def target_of_url(self, url: bytes) -> Target | None:
        """As ``target``, for the path and query of a request line. API servers send few different ones."""
        target = self._urls.get(url)
        if target is None:
            target = self.target(url.partition(b"?")[0].decode("latin-1"))
            if target is not None and len(self._urls) < _KNOWN_URLS:
                self._urls[url] = target
        return target

    def answer(self, target: Target, body: bytes | bytearray) -> tuple[int, bytes]:
        """The HTTP status and the JSON to answer a body with. Raises nothing."""
        try:
            request = _request(body)
        except BadRequest as bad:
            return self.refuse(bad, target.path)
        service = self._service
        if target.digest:
            service.check_scope(target.path, target.digest)
        start = perf_counter()
        answer = self._judge(target, request)
        service.decisions.add(target.endpoint, request, answer, perf_counter() - start)
        if service.recording is not None:
            service.recording.add(target.endpoint, service.policies.current.policy.digest, request, body, answer)
        return 200, answer.body

    def refuse(self, bad: BadRequest, path: str) -> tuple[int, bytes]:
        """The HTTP status and the JSON that a request gets which is no review; it is counted and logged."""
        service = self._service
        reason = printable(str(bad)[:MAX_TEXT])
        service.metrics.rejected.labels(str(bad.status)).inc()
        service.log.event("bad_request", "warning", code=bad.status, path=path[:MAX_TEXT], error=reason)
        return bad.status, orjson.dumps({"error": reason})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        path = scope.get("path", "")
        target = self.target(path)
        if target is None:
            await self._otherwise(scope, receive, send)
            return
        headers = [(b"content-type", b"application/json")]
        try:
            body = await read_body(scope, receive)
            if body is None:
                return
            status, content = self.answer(target, body)
        except BadRequest as bad:
            status, content = self.refuse(bad, path)
            if status == 405:
                headers.append((b"allow", b"POST"))
        headers.append((b"content-length", b"%d" % len(content)))
        if self.draining:
            headers.append((b"connection", b"close"))
        # What is left of a body is read and thrown away by the protocol, so that the client gets to the answer.
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content, "more_body": False})

    def _judge(self, target: Target, request: Request) -> Answer:
        service = self._service
        policy = service.policies.current.policy
        endpoint, mode = target.endpoint, target.mode
        try:
            context = Context(request.namespace, service.today, service.facts)
            if endpoint == "advise":
                return advise(policy, mode, request, context)
            if endpoint == "namespace":
                return review_namespace(policy, request, service.facts)
            return review(policy, endpoint, mode, request, context)
        except Exception as error:  # noqa: BLE001 - whatever happens, the mode decides on the answer
            uid = request.uid[:MAX_TEXT]
            found = traceback.format_exc()
            service.log.event("internal_error", "error", uid=uid, path=target.path, traceback=found)
            mode = policy.modes.namespaces.get(request.namespace, mode)
            if endpoint == "advise" and not refuses(policy, request):
                mode = "audit"
            said = f"internal error ({type(error).__name__}); the server's log has it under uid {uid}"
            return failure(request.uid, mode, said)


def _request(body: bytes | bytearray) -> Request:
    if not body:
        raise BadRequest(400, "the body is empty; expected an AdmissionReview")
    try:
        return read_request(orjson.loads(body))
    except orjson.JSONDecodeError as error:
        raise BadRequest(400, f"the body is not JSON: {error}") from error
    except NotAReview as error:
        raise BadRequest(400, str(error)) from error
