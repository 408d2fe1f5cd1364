"""What a run of tests found, in the formats that people and CI systems read."""

from collections import Counter
from collections.abc import Callable
from importlib import import_module
from typing import Final, NamedTuple, Protocol

from app.suite.case import Failure, SuiteResult
from app.suite.coverage import Row

FORMATS: Final = ("text", "json", "junit")
"""Every format, the default first. Each is a module ``NAME_report`` here, with a class ``Report``."""

Write = Callable[[str], object]


class Style(NamedTuple):
    """How a report for people is written: with colour, only what went wrong (``quiet``), or every case."""

    color: bool = False
    quiet: bool = False
    verbose: bool = False


class Totals(NamedTuple):
    """How many of what."""

    suites: int
    cases: int
    passed: int
    failed: int
    updated: int
    unproven: int
    errors: int


class Report(Protocol):
    """One report being written."""

    def __init__(self, write: Write, style: Style) -> None:
        """Begin a report."""

    def suite(self, result: SuiteResult) -> None:
        """Take the next suite."""

    def finish(self, problems: tuple[Failure, ...], coverage: list[Row] | None, totals: Totals, /) -> None:
        """Take what could not be read as a test and, if it was asked for, the coverage; write what is left."""


def new_report(name: str, write: Write, style: Style) -> Report:
    """A report in the format of this name, which is one of FORMATS."""
    report: Report = import_module(f"app.suite.{name}_report").Report(write, style)
    return report


def totals(results: list[SuiteResult], problems: tuple[Failure, ...]) -> Totals:
    """The sums of a run. A suite without a policy is an error for each of its problems, and none of its cases ran."""
    counts = Counter(case.status for result in results for case in result.cases)
    return Totals(
        suites=len(results),
        cases=sum(len(result.suite.cases) for result in results),
        passed=counts["passed"],
        failed=counts["failed"],
        updated=counts["updated"],
        unproven=counts["unproven"],
        errors=counts["error"] + len(problems) + sum(len(result.errors) for result in results),
    )
