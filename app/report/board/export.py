"""The board as files: what to write where, a file at a time."""

from collections.abc import Iterator
from typing import NamedTuple

from app.report.board.links import namespace_file, overview_file
from app.report.board.overview import Overview
from app.report.board.pages import (
    ASSETS,
    ROWS_PER_PAGE,
    WORKLOADS_IN_FILES,
    WORKLOADS_PER_PAGE,
    asset,
    namespace_page,
    overview_page,
)
from app.report.board.query import Query


class File(NamedTuple):
    """A file of the board; ``path`` is relative to its folder, with slashes."""

    path: str
    content: bytes


def export(board: Overview) -> Iterator[File]:
    """Every file, the overview last: a folder that holds it is whole."""
    for name in ASSETS:
        yield File(name, asset(name))
    for row in board.rows:
        for number in range(1, _pages(min(len(row.workloads), WORKLOADS_IN_FILES), WORKLOADS_PER_PAGE) + 1):
            page = namespace_page(board, row, Query(page=number))
            yield File(namespace_file(row.slug, number), page.encode())
    for number in range(_pages(len(board.rows), ROWS_PER_PAGE), 0, -1):
        yield File(overview_file(number), overview_page(board, Query(page=number)).encode())


def _pages(count: int, size: int) -> int:
    return max(1, -(-count // size))
