"""json: everything, for programs. docs/testing.md describes it; ``version`` grows when a key changes."""

from typing import Any, Final

import orjson

from app import __version__
from app.suite.case import Failure, SuiteResult
from app.suite.coverage import Row, share
from app.suite.formats import Style, Totals, Write

VERSION: Final = 1


class Report:
    """The report as one JSON object, written at the end."""

    def __init__(self, write: Write, _style: Style) -> None:
        self._write = write
        self._suites: list[dict[str, Any]] = []

    def suite(self, result: SuiteResult) -> None:
        """Keep the suite."""
        policy = result.policy
        self._suites.append(
            {
                "name": result.suite.name,
                "file": result.suite.file,
                "policies": [each._asdict() for each in policy.documents] if policy else [],
                "cases": [
                    {
                        "name": each.case.name,
                        **each.case.place._asdict(),
                        "status": each.status,
                        "seconds": round(each.seconds, 6),
                        "failures": _failures(each.failures),
                    }
                    for each in result.cases
                ],
                "errors": _failures(result.errors),
            }
        )

    def finish(self, problems: tuple[Failure, ...], coverage: list[Row] | None, totals: Totals) -> None:
        """Write everything."""
        value = {
            "version": VERSION,
            "tool": {"name": "gpugate", "version": __version__},
            "suites": self._suites,
            "errors": _failures(problems),
            "coverage": None if coverage is None else _coverage(coverage),
            "summary": totals._asdict(),
        }
        self._write(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() + "\n")


def _failures(failures: tuple[Failure, ...]) -> list[dict[str, Any]]:
    return [{**place._asdict(), "message": message} for place, message in failures]


def _coverage(rows: list[Row]) -> dict[str, Any]:
    entries = [{"policy": row.policy, "kind": row.kind, "name": row.name, "outcomes": row.outcomes} for row in rows]
    return {"percent": round(share(rows), 1), "rows": entries}
