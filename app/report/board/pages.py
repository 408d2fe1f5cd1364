"""The pages: from the overview of a snapshot to HTML."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar

from app.policy.compiled import Mode
from app.report.board.links import Links
from app.report.board.overview import Overview, Row
from app.report.board.query import Query, select_rows, select_workloads
from app.report.board.templating import environment

ASSETS: Final = ("board.css", "board.js")
ROWS_PER_PAGE: Final = 200
"""Namespaces on a page: about 300 KB of HTML."""
WORKLOADS_PER_PAGE: Final = 100
WORKLOADS_IN_FILES: Final = 2000
"""Of one namespace, the worst first: 20 pages. More are for the board that is served, or for a program."""
FINDINGS_SHOWN: Final = 50
"""Of one workload, and as many operations of its patch: few pods have more containers to find fault with."""
_STATIC: Final = Path(__file__).parent / "static"
_T = TypeVar("_T")


class Promotion(NamedTuple):
    """The change of a mode that a page offers: to which one, and what the reader has to agree to first, if anything."""

    to: Mode
    objection: str | None
    stricter: bool


class Notice(NamedTuple):
    """What came of something that the reader did; ``forceable`` is a mode that can be chosen all the same."""

    tone: Literal["good", "bad"]
    text: str
    forceable: Mode | None = None


class Live(NamedTuple):
    """What a page says that is served from a cluster, and not in files.

    ``token`` goes with every form; ``problem`` tells why the snapshot is older than it should be; ``revision`` counts
    the snapshots, so that a page can tell that there is a newer one. ``locked``: the modes may be changed, but not by
    this reader. ``source`` is the file that the snapshot is from, if it is not from a cluster.
    """

    token: str
    revision: int
    scanning: bool = False
    problem: str | None = None
    notice: Notice | None = None
    may_promote: bool = False
    locked: bool = False
    source: str | None = None


class Page(NamedTuple):
    """A part of a list: its number, how many there are, and where it begins and ends among all ``total``."""

    number: int
    last: int
    first: int
    end: int
    total: int


def paged(items: Sequence[_T], number: int, size: int) -> tuple[Sequence[_T], Page]:
    """The items of a page, or of the last one if there are fewer."""
    last = max(1, -(-len(items) // size))
    number = min(number, last)
    start = (number - 1) * size
    part = items[start : start + size]
    return part, Page(number, last, start + 1 if part else 0, start + len(part), len(items))


def overview_page(board: Overview, query: Query, live: Live | None = None) -> str:
    """The first page: the whole cluster, a namespace a row."""
    links = Links("", files=live is None)
    rows, page = paged(select_rows(board.rows, query), query.page, ROWS_PER_PAGE)
    return _render(
        "overview.html",
        board=board,
        cluster=board.snapshot.cluster.context or board.snapshot.cluster.server,
        live=live,
        links=links,
        query=query._replace(page=page.number),
        rows=rows,
        page=page,
        address=lambda number: links.overview(query.but(page=number)),
    )


def namespace_page(
    board: Overview, row: Row, query: Query, live: Live | None = None, promotions: Sequence[Promotion] = ()
) -> str:
    """The page of a namespace: its workloads with every finding."""
    links = Links("../", files=live is None)
    found = select_workloads(row, query)
    left_out = max(0, len(found) - WORKLOADS_IN_FILES) if live is None else 0
    workloads, page = paged(found[: len(found) - left_out], query.page, WORKLOADS_PER_PAGE)
    return _render(
        "namespace.html",
        board=board,
        cluster=board.snapshot.cluster.context or board.snapshot.cluster.server,
        row=row,
        live=live,
        links=links,
        query=query._replace(page=page.number),
        workloads=workloads,
        left_out=left_out,
        page=page,
        address=lambda number: links.namespace(row.slug, query.but(page=number)),
        promotions=promotions,
        limit=FINDINGS_SHOWN,
    )


def message_page(title: str, text: str) -> str:
    """A page that says one thing, for addresses where there is nothing."""
    return _render("message.html", title=title, text=text, links=Links("/", files=False))


@cache
def asset(name: str) -> bytes:
    """The content of one of ``ASSETS``."""
    return (_STATIC / name).read_bytes()


def _render(template: str, **values: Any) -> str:
    return environment().get_template(template).render(values)
