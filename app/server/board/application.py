"""The pages of the board over HTTP."""

import asyncio
import re
import secrets
from typing import Any, Final
from urllib.parse import parse_qsl

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.exceptions import HTTPException as StarletteHTTPException

from app.policy.compiled import Mode
from app.report.board.overview import Row
from app.report.board.pages import ASSETS, Live, Notice, Promotion, asset, message_page, namespace_page, overview_page
from app.report.board.query import parse_query
from app.report.rollout import LADDER
from app.server.board.changes import ChangeRefused, Changes
from app.server.board.guard import Guard, Session
from app.server.board.snapshots import Snapshots

_PATIENCE: Final = 5.0
"""Seconds that a form waits for the next snapshot, before it shows the one that there is."""
_LONGEST_FORM: Final = 4096
_MOST_NOTICES: Final = 50
_TYPES: Final = {"css": "text/css", "js": "text/javascript"}
_BACK: Final = re.compile(r"(namespaces/[\w-]+)?(\?[!-~]*)?", re.ASCII)
_READ: Final = ["GET", "HEAD"]
_FORBIDDEN: Final = "This form was not made by the board that runs now. Go back, reload the page, and send it again."
_NOT_YOURS: Final = "To change modes from here, open the address that gpugate printed when it started."


class Board:
    """One running board. ``changes`` are None where nothing may be changed; ``source`` names the file it is from."""

    def __init__(self, snapshots: Snapshots, session: Session, changes: Changes | None, source: str | None) -> None:
        self._snapshots = snapshots
        self._session = session
        self._changes = changes
        self._source = source
        self._notices: dict[str, Notice] = {}

    def application(self) -> Guard:
        """The ASGI application."""
        app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
        app.add_api_route("/", self._overview, methods=_READ)
        app.add_api_route("/status", self._status, methods=_READ)
        app.add_api_route("/namespaces/{slug}", self._namespace, methods=_READ)
        app.add_api_route("/refresh", self._refresh, methods=["POST"])
        if self._changes is not None:
            app.add_api_route("/namespaces/{slug}/mode", self._mode, methods=["POST"])
        app.add_api_route("/{name}", self._asset, methods=_READ)
        app.add_exception_handler(StarletteHTTPException, _failed)
        app.add_exception_handler(Exception, _broken)
        return Guard(app, _message)

    async def _overview(self, request: Request) -> Response:
        key = request.query_params.get("key")
        if key is not None:
            return self._entered(key)
        self._snapshots.look()
        return HTMLResponse(
            overview_page(self._snapshots.board, parse_query(request.query_params), self._live(request))
        )

    def _entered(self, key: str) -> Response:
        """The address with the key was opened: take the key out of it."""
        answer = RedirectResponse("/", 303)
        if self._session.is_key(key):
            answer.set_cookie(self._session.cookie, key, httponly=True, samesite="strict")
        return answer

    async def _namespace(self, request: Request, slug: str) -> Response:
        self._snapshots.look()
        row = self._row(slug)
        live = self._live(request)
        offers = await self._offers(row, live)
        query = parse_query(request.query_params)
        return HTMLResponse(namespace_page(self._snapshots.board, row, query, live, offers))

    async def _offers(self, row: Row, live: Live) -> list[Promotion]:
        """What this reader may change. What was refused just now is offered with the refusal to agree to."""
        if self._changes is None or not live.may_promote:
            return []
        refused = live.notice.forceable if live.notice else None
        return [
            offer._replace(objection=offer.objection or "See above") if offer.to == refused else offer
            for offer in await asyncio.to_thread(self._changes.offers, row.namespace)
        ]

    async def _status(self) -> dict[str, Any]:
        """What an open page asks for now and then."""
        snapshots = self._snapshots
        snapshots.look()
        return {"revision": snapshots.revision, "scanning": snapshots.scanning, "problem": snapshots.problem}

    async def _asset(self, name: str) -> Response:
        if name not in ASSETS:
            raise HTTPException(404)
        return Response(asset(name), media_type=_TYPES[name.rpartition(".")[2]])

    async def _refresh(self, request: Request) -> Response:
        form = await self._form(request)
        await self._snapshots.refresh(_PATIENCE)
        back = form.get("back", "")
        return RedirectResponse(f"/{back if _BACK.fullmatch(back) else ''}", 303)

    async def _mode(self, request: Request, slug: str) -> Response:
        form = await self._form(request)
        if not self._session.knows(request):
            raise HTTPException(403, _NOT_YOURS)
        row = self._row(slug)
        to: Mode | None = next((mode for mode in LADDER if mode == form.get("to")), None)
        if to is None:
            raise HTTPException(400, f"There is no such mode; the modes are {', '.join(LADDER)}.")
        assert self._changes is not None
        try:
            done = await asyncio.to_thread(self._changes.change, row.name, to, force=form.get("force") == "yes")
        except ChangeRefused as error:
            notice = Notice("bad", str(error), to if error.can_be_forced else None)
        else:
            notice = Notice("good", done)
        await self._snapshots.renew(_PATIENCE)
        return RedirectResponse(f"/namespaces/{slug}?notice={self._keep(notice)}", 303)

    async def _form(self, request: Request) -> dict[str, str]:
        """The fields of a form of ours; raises HTTPException."""
        content = b""
        async for part in request.stream():
            content += part
            if len(content) > _LONGEST_FORM:
                raise HTTPException(413, "The form is too large.")
        fields = dict(parse_qsl(content.decode("utf-8", "replace")))
        if not self._session.sent_token(fields.get("token", "")):
            raise HTTPException(403, _FORBIDDEN)
        return fields

    def _row(self, slug: str) -> Row:
        row = self._snapshots.board.row(slug)
        if row is None:
            raise HTTPException(404, "There is no such namespace in this scan.")
        return row

    def _live(self, request: Request) -> Live:
        snapshots = self._snapshots
        return Live(
            token=self._session.token,
            revision=snapshots.revision,
            scanning=snapshots.scanning,
            problem=snapshots.problem,
            notice=self._notices.get(request.query_params.get("notice", "")),
            may_promote=self._changes is not None and self._session.knows(request),
            locked=self._changes is not None and not self._session.knows(request),
            source=self._source,
        )

    def _keep(self, notice: Notice) -> str:
        """Keep what came of a form for the page that shows it; the name that it has in that page's address."""
        name = secrets.token_urlsafe(8)
        self._notices[name] = notice
        while len(self._notices) > _MOST_NOTICES:
            del self._notices[next(iter(self._notices))]
        return name


def _message(status: int, title: str, text: str) -> Response:
    return HTMLResponse(message_page(title, text), status)


async def _failed(request: Request, raised: Exception) -> Response:
    assert isinstance(raised, StarletteHTTPException)
    if raised.status_code == 404:
        text = raised.detail if raised.detail != "Not Found" else "There is no such page."
        return _message(404, "Nothing here", text)
    if raised.status_code == 405:
        return _message(405, "Not that way", f"This page does not take {request.method[:20]}.")
    return _message(raised.status_code, "Not done", raised.detail)


async def _broken(_request: Request, raised: Exception) -> Response:
    return _message(500, "gpugate failed", f"An error of gpugate itself, {type(raised).__name__}. This is a bug.")
