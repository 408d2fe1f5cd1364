"""junit: the XML that CI systems show as test results.

One ``testsuite`` a suite, one ``testcase`` a case; a policy or a file that cannot be used is a case of its own.
"""

import re
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from app.suite.case import CaseResult, Failure, SuiteResult
from app.suite.coverage import Row
from app.suite.formats import Style, Totals, Write

# What XML 1.0 cannot hold, however it is written.
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Report:
    """The report as one document, written at the end: its first element holds the sums."""

    def __init__(self, write: Write, _style: Style) -> None:
        self._write = write
        self._suites: list[str] = []
        self._cases = 0
        self._errors = 0
        self._seconds = 0.0

    def suite(self, result: SuiteResult) -> None:
        """Keep the suite."""
        name, file = result.suite.name, result.suite.file
        seconds = sum(each.seconds for each in result.cases)
        failed = sum(each.status == "failed" for each in result.cases)
        errors = sum(each.status == "error" for each in result.cases)
        self._suite(name, file, [_case(name, each) for each in result.cases], failed, errors, seconds, result.errors)

    def finish(self, problems: tuple[Failure, ...], _coverage: list[Row] | None, totals: Totals) -> None:
        """Write everything. JUnit has no place for the coverage."""
        if problems:
            self._suite("tests", problems[0].place.file, [], 0, 0, 0.0, problems)
        head = _attributes(
            name="gpugate test",
            tests=self._cases,
            failures=totals.failed,
            errors=self._errors,
            time=f"{self._seconds:.6f}",
        )
        self._write('<?xml version="1.0" encoding="UTF-8"?>\n')
        self._write(f"<testsuites{head}>\n{''.join(self._suites)}</testsuites>\n")

    def _suite(
        self,
        name: str,
        file: str,
        cases: list[str],
        failed: int,
        errors: int,
        seconds: float,
        whole: tuple[Failure, ...],
    ) -> None:
        if whole:
            cases = [*cases, _element(name, file, "cannot be run", 0.0, "error", whole)]
            errors += 1
        head = _attributes(
            name=name, file=file, tests=len(cases), failures=failed, errors=errors, time=f"{seconds:.6f}"
        )
        self._suites.append(f"  <testsuite{head}>\n{''.join(cases)}  </testsuite>\n")
        self._cases += len(cases)
        self._errors += errors
        self._seconds += seconds


def _case(suite: str, result: CaseResult) -> str:
    kind = {"error": "error", "unproven": "skipped"}.get(result.status, "failure")
    return _element(suite, result.case.place.file, result.case.name, result.seconds, kind, result.failures)


def _element(suite: str, file: str, name: str, seconds: float, kind: str, failures: tuple[Failure, ...]) -> str:
    head = _attributes(classname=suite, name=name, file=file, time=f"{seconds:.6f}")
    if not failures:
        return f"    <testcase{head}/>\n"
    lines = "\n".join(f"{place}: {message}" for place, message in failures)
    inner = f"      <{kind}{_attributes(message=failures[0].message)}>{escape(_clean(lines))}</{kind}>\n"
    return f"    <testcase{head}>\n{inner}    </testcase>\n"


def _attributes(**values: object) -> str:
    return "".join(f" {key}={quoteattr(_clean(str(value)))}" for key, value in values.items())


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
