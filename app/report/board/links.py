"""Addresses between the pages, all relative, so that they hold at any address and from a folder."""

from typing import Final, NamedTuple

from app.report.board.query import EVERYTHING, Query

FOLDER: Final = "namespaces"
"""Where the pages of namespaces are."""


class Links(NamedTuple):
    """The addresses on one page. ``base`` leads to the overview; ``files`` tells that pages are files in a folder."""

    base: str
    files: bool

    def overview(self, query: Query = EVERYTHING) -> str:
        """The overview; in files its pages are there, its filters are not."""
        if self.files:
            return self.base + overview_file(query.page)
        return (self.base or "./") + query.encoded

    def namespace(self, slug: str, query: Query = EVERYTHING) -> str:
        """A namespace's page."""
        if self.files:
            return self.base + namespace_file(slug, query.page)
        return f"{self.base}{FOLDER}/{slug}{query.encoded}"

    def asset(self, name: str) -> str:
        """The style or the script."""
        return self.base + name


def overview_file(page: int) -> str:
    """The file of a page of the overview."""
    return "index.html" if page == 1 else f"index.{page}.html"


def namespace_file(slug: str, page: int) -> str:
    """The file of a page of a namespace. No slug holds a dot, so no two pages have one file."""
    return f"{FOLDER}/{slug}.html" if page == 1 else f"{FOLDER}/{slug}.{page}.html"
