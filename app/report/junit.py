"""junit: JUnit XML, which every CI system shows as test results.

A suite is an input, a test case a pod or pod template. A case fails if the run fails for it.
"""

from typing import Final
from xml.sax.saxutils import escape, quoteattr

from app.admission.review import printable
from app.documents import Region
from app.policy.compiled import Policy
from app.report.formats import Write
from app.report.problems import error_location, location, place_of, reported
from app.report.results import FAILING, InputError, JudgedObject, JudgedPod, Placed, Style, Summary

_INDENT: Final = "    "


class Report:
    """One suite an input. A suite is held until its end, for it starts with the counts."""

    def __init__(self, write: Write, _policy: Policy, style: Style) -> None:
        self._write = write
        self._style = style
        self._suite = ""
        self._cases: list[str] = []
        self._failures = self._errors = self._skipped = 0
        write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="gpugate check">\n')

    def object(self, judged: JudgedObject) -> None:
        """Write the object's pods."""
        self._enter(judged.source.name)
        for pod in judged.pods:
            several = f" {pod.template}" if len(judged.pods) > 1 else ""
            where = location(judged, Region(judged.line, 1, judged.line, 1), self._style)
            self._case(judged.title + several, where.path, where.region.line, self._result(judged, pod))

    def error(self, error: InputError) -> None:
        """Write what could not be judged as a test in error."""
        self._enter(error.file)
        self._errors += 1
        where = error_location(error, self._style)
        name = f"line {error.line}, column {error.column}"
        self._case(name, where.path, error.line, f"<error message={_attribute(error.message)}/>")

    def finish(self, _summary: Summary, /) -> None:
        """End the last suite, and the report."""
        self._leave()
        self._write("</testsuites>\n")

    def _result(self, judged: JudgedObject, pod: JudgedPod) -> str:
        """What stands in a pod's test case: a failure with every finding, or what is said of one that passes."""
        if pod.exempt or pod.mode == "disabled":
            self._skipped += 1
            reason = f"exempt: {pod.exempt}" if pod.exempt else "the mode is disabled"
            return f"<skipped message={_attribute(reason)}/>"
        found = list(reported(pod, self._style))
        lines = "\n".join(_line(judged, placed) for placed in found)
        if pod.fails(self._style.fail_on):
            self._failures += 1
            failing = FAILING[self._style.fail_on]
            first = next(each for each in pod.findings if not each.known and each.finding.outcome in failing)
            said = first.finding.text if len(found) < 2 else f"{first.finding.text}, and {len(found) - 1} more"
            return f"<failure message={_attribute(said)}>{escape(lines)}</failure>"
        return f"<system-out>{escape(lines)}</system-out>" if lines else ""

    def _case(self, name: str, path: str, line: int, inner: str) -> None:
        case = f"{_INDENT}<testcase name={_attribute(name)} classname={_attribute(self._suite)}"
        case += f' file={_attribute(path)} line="{line}"'
        self._cases.append(case + (f">{inner}</testcase>\n" if inner else "/>\n"))

    def _enter(self, suite: str) -> None:
        if suite != self._suite:
            self._leave()
            self._suite = suite

    def _leave(self) -> None:
        if self._cases:
            counts = f'failures="{self._failures}" errors="{self._errors}" skipped="{self._skipped}"'
            self._write(f'  <testsuite name={_attribute(self._suite)} tests="{len(self._cases)}" {counts}>\n')
            self._write("".join(self._cases))
            self._write("  </testsuite>\n")
        self._cases = []
        self._failures = self._errors = self._skipped = 0


def _line(judged: JudgedObject, placed: Placed) -> str:
    finding, _, known = placed
    said = f"{'known ' if known else ''}{finding.outcome} {finding.text}"
    return printable(f"{place_of(judged, placed)}: {said}")


def _attribute(text: str) -> str:
    """Quoted. XML has no way to write control characters."""
    return quoteattr(printable(text))
