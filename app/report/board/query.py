"""What a reader asked the board for, in the query of an address, and what answers it."""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, TypeVar, get_args
from urllib.parse import urlencode

from app.policy.compiled import Mode
from app.report.board.overview import Outlook, Row, outlook, rules_against
from app.report.rollout import LADDER, Standing

Order = Literal["attention", "name", "mode", "size"]
ORDERS: Final[dict[Order, str]] = {
    "attention": "most would break first",
    "name": "by name",
    "mode": "strictest mode first",
    "size": "most workloads first",
}
_LONGEST: Final = 200
_T = TypeVar("_T", bound=str)


class Query(NamedTuple):
    """A filter and an order; an empty text, None and the first page leave nothing out."""

    text: str = ""
    mode: Mode | None = None
    outlook: Outlook | None = None
    rule: str = ""
    order: Order = "attention"
    page: int = 1

    @property
    def filters(self) -> bool:
        """True if it leaves something out."""
        return bool(self.text or self.mode or self.outlook or self.rule)

    def but(self, **changes: Any) -> "Query":
        """The query with these changes; another filter begins at its first page."""
        return self._replace(**{"page": 1, **changes})

    @property
    def encoded(self) -> str:
        """As the end of an address, with ``?``, without what is as always."""
        pairs = {
            "q": self.text,
            "mode": self.mode or "",
            "state": self.outlook or "",
            "rule": self.rule,
            "sort": "" if self.order == "attention" else self.order,
            "page": "" if self.page == 1 else str(self.page),
        }
        encoded = urlencode({key: value for key, value in pairs.items() if value})
        return f"?{encoded}" if encoded else ""


EVERYTHING: Final = Query()


def parse_query(parameters: Mapping[str, str]) -> Query:
    """The query of an address. What means nothing counts as not asked for: an old bookmark still opens."""
    page = parameters.get("page", "")
    return Query(
        text=" ".join(parameters.get("q", "")[:_LONGEST].split()),
        mode=_one_of(parameters.get("mode"), LADDER),
        outlook=_one_of(parameters.get("state"), get_args(Outlook)),
        rule=parameters.get("rule", "")[:_LONGEST],
        order=_one_of(parameters.get("sort"), get_args(Order)) or "attention",
        page=max(1, int(page)) if page.isascii() and page.isdecimal() and len(page) < 7 else 1,
    )


def _one_of(value: str | None, allowed: tuple[_T, ...]) -> _T | None:
    return next((each for each in allowed if each == value), None)


def select_rows(rows: tuple[Row, ...], query: Query) -> list[Row]:
    """The namespaces that the query asks for: by their own name, or for a workload of theirs."""
    found = [row for row in rows if (query.mode in (None, row.mode)) and _has(row, query)]
    if query.order == "name":
        found.sort(key=lambda row: row.name)
    elif query.order == "mode":
        found.sort(key=lambda row: -LADDER.index(row.mode))
    elif query.order == "size":
        found.sort(key=lambda row: -row.counts.total)
    return found


def select_workloads(row: Row, query: Query) -> list[Standing]:
    """The workloads of a namespace that the query asks for."""
    return [workload for workload in row.workloads if _asked_for(workload, query)]


def within(query: Query, row: Row) -> Query:
    """What is left of a query of namespaces inside one that it found: what its name answers is no filter."""
    named = query.text.lower() in row.name.lower()
    return Query(text="" if named else query.text, outlook=query.outlook, rule=query.rule)


def _has(row: Row, query: Query) -> bool:
    inside = within(query, row)
    return not inside.filters or any(_asked_for(workload, inside) for workload in row.workloads)


def _asked_for(workload: Standing, query: Query) -> bool:
    text = query.text.lower()
    return (
        query.outlook in (None, outlook(workload))
        and (not query.rule or query.rule in rules_against(workload))
        and (not text or text in f"{workload.kind}/{workload.name}".lower())
    )
