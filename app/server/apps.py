"""The two applications: the webhook's, and that of the metrics port."""

from collections.abc import Callable
from typing import Any, Literal, Protocol

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client.exposition import choose_encoder
from starlette.exceptions import HTTPException as StarletteHTTPException

from app.server.metrics import Metrics
from app.server.reviews import ENDPOINTS, MODES, Reviews
from app.server.service import Service


class Status(Protocol):
    """What the probes tell."""

    def not_ready(self) -> list[str]:
        """Why the server should not be called; empty if it is ready."""

    def notes(self) -> list[str]:
        """What is wrong beside."""

    @property
    def policy_digest(self) -> str | None:
        """Of the policy in force."""


def webhook_app(service: Service) -> Reviews:
    """What the API server calls: the reviews, and the probes."""
    app = _application(service)
    methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    @app.api_route("/{endpoint}/{rest:path}", methods=methods)
    def unknown_mode(endpoint: str, rest: str) -> None:
        """Paths of reviews that the front did not take."""
        if endpoint in ENDPOINTS:
            mode = rest.partition("/")[0][:100]
            raise HTTPException(404, f"there is no mode {mode!r} to {endpoint} in; the modes are {', '.join(MODES)}")
        raise HTTPException(404, _NOT_FOUND)

    return Reviews(service, app)


def metrics_app(service: Service) -> FastAPI:
    """What operators and their monitoring read: metrics, the policy in force, and the probes. Plain HTTP."""
    app = _application(service)
    _tell_metrics(app, service.metrics, service.decisions.settle)

    @app.get("/policy")
    async def policy() -> dict[str, Any]:
        """The policy in force: its files as they were read, its digest, when it was loaded."""
        current = service.policies.current
        return {
            "digest": current.policy.digest,
            "loadedAt": current.loaded_at.isoformat(timespec="milliseconds"),
            "scopes": sorted(current.scopes or ()),
            "documents": [document._asdict() for document in current.policy.documents],
            "files": [{"name": name, "content": content.decode()} for name, content in current.files],
        }

    return app


def waiting_app(status: Status, metrics: Metrics) -> FastAPI:
    """What the metrics port answers while there is nothing to serve with."""
    app = _application(status)
    _tell_metrics(app, metrics, lambda: None)
    return app


_NOT_FOUND = (
    "there is nothing here; reviews go to /mutate/{mode}, /validate/{mode}, /advise/{mode} and /namespace, probes to "
    "/healthz and /readyz"
)


def _tell_metrics(app: FastAPI, metrics: Metrics, settle: Callable[[], None]) -> None:
    @app.get("/metrics")
    async def exposition(request: Request) -> Response:
        """The metrics, as text of Prometheus or OpenMetrics."""
        settle()
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(metrics.registry), headers={"content-type": content_type})


def _application(status: Status) -> FastAPI:
    """FastAPI with the probes, and with errors in the server's own form: ``{"error": "..."}``."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)

    @app.get("/healthz")
    async def healthz() -> dict[Literal["status"], str]:
        """Live: the event loop turns."""
        return {"status": "ok"}

    @app.get("/readyz")
    async def readyz() -> JSONResponse:
        """Ready to be called, or why not; notes tell of what is wrong and no reason to stay away.

        The digest of the policy in force tells whoever hands on a new one when it has arrived.
        """
        reasons = status.not_ready()
        content = {"ready": not reasons, "reasons": reasons, "notes": status.notes(), "policy": status.policy_digest}
        return JSONResponse(content, 503 if reasons else 200)

    @app.exception_handler(StarletteHTTPException)
    async def error(request: Request, raised: StarletteHTTPException) -> JSONResponse:
        reason = raised.detail
        if raised.status_code == 405:
            reason = f"{request.url.path[:200]} does not take {request.method}"
        elif reason == "Not Found":
            reason = "there is nothing here"
        return JSONResponse({"error": reason}, raised.status_code, headers=raised.headers)

    return app
