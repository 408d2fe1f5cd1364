"""text: for people. What went wrong, one line for each thing that is not as expected, and a line that sums up."""

from typing import Final

import click

from app.admission.review import printable
from app.model.words import counted
from app.suite.case import Failure, SuiteResult
from app.suite.coverage import Row, share
from app.suite.formats import Style, Totals, Write
from app.suite.kyverno_case import KyvernoSuite

_COLORS: Final = {"passed": "green", "failed": "red", "error": "red", "updated": "yellow", "unproven": "yellow"}
_WORDS: Final = {"passed": "ok", "failed": "FAIL", "error": "ERROR", "updated": "updated", "unproven": "unproven"}


class Report:
    """Cases that went wrong; with ``verbose`` all of them."""

    def __init__(self, write: Write, style: Style) -> None:
        self._write = write
        self._style = style

    def suite(self, result: SuiteResult) -> None:
        """Write what went wrong in the suite."""
        if result.errors:
            self._heading("error", result.suite.name, _unusable(result))
            self._failures(result.errors)
        for each in result.cases:
            if each.status != "passed" or self._style.verbose:
                self._heading(each.status, result.suite.name, each.case.name)
                self._failures(each.failures)

    def finish(self, problems: tuple[Failure, ...], coverage: list[Row] | None, totals: Totals) -> None:
        """Write the rest."""
        if problems:
            self._heading("error", "tests", "cannot be read")
            self._failures(problems)
        if coverage is not None:
            self._coverage(coverage)
        if not self._style.quiet:
            self._write(_sum(totals) + "\n")

    def _heading(self, status: str, suite: str, what: str) -> None:
        word = self._paint(_WORDS[status], _COLORS[status], bold=status in ("failed", "error"))
        self._write(f"{word} {printable(suite)}: {printable(what)}\n")

    def _failures(self, failures: tuple[Failure, ...]) -> None:
        for place, message in failures:
            self._write(f"  {printable(str(place))}: {printable(message)}\n")

    def _coverage(self, rows: list[Row]) -> None:
        policy = None
        width = max((len(row.name) for row in rows), default=0)
        for row in rows:
            if self._style.quiet and not row.missed:
                continue
            if row.policy != policy:
                policy = row.policy
                self._write(f"coverage of {policy}:\n")
            counts = ", ".join(
                f"{outcome} {count}" if count else self._paint(f"{outcome} never", "yellow")
                for outcome, count in row.outcomes.items()
            )
            self._write(f"  {row.name:{width}}  {counts}\n")
        if self._style.quiet:
            return
        missed = sum(len(row.missed) for row in rows)
        total = sum(len(row.outcomes) for row in rows)
        self._write(f"{total - missed} of {total} outcomes exercised ({share(rows):.0f} %)\n")

    def _paint(self, text: str, color: str, *, bold: bool = False) -> str:
        return click.style(text, fg=color, bold=bold or None) if self._style.color else text


def _unusable(result: SuiteResult) -> str:
    what = "test" if isinstance(result.suite, KyvernoSuite) else "policy"
    return f"the {what} cannot be used, so nothing was tested"


def _sum(totals: Totals) -> str:
    counts = [
        f"{count} {what}"
        for count, what in (
            (totals.passed, "passed"),
            (totals.failed, "failed"),
            (totals.updated, "updated: look at what changed"),
            (totals.unproven, "unproven"),
            (totals.errors, "error" if totals.errors == 1 else "errors"),
        )
        if count
    ]
    return f"{counted(totals.cases, 'case')} in {counted(totals.suites, 'suite')}: {', '.join(counts) or 'none run'}."
