"""github: annotations of a pull request, as workflow commands that GitHub's runner reads from the log.

Source: actions/toolkit packages/core/src/command.ts for the escapes. GitHub keeps ten annotations of each kind a step,
and drops the others without a word.
"""

from typing import Final, NamedTuple

from app.admission.review import printable
from app.policy.compiled import Policy
from app.report.formats import Write
from app.report.problems import LEVELS, Level, Location, error_location, level, location, message, reported
from app.report.results import InputError, JudgedObject, Style, Summary

MAX_ANNOTATIONS: Final = 10
"""What GitHub shows of each kind."""

_COMMANDS: Final[dict[Level, str]] = {"error": "error", "warning": "warning", "note": "notice"}


class _Annotation(NamedTuple):
    where: Location
    title: str
    text: str


class Report:
    """The first annotations of each kind, the most severe kind first, and how many more there are."""

    def __init__(self, write: Write, _policy: Policy, style: Style) -> None:
        self._write = write
        self._style = style
        self._held: dict[Level, list[_Annotation]] = {each: [] for each in LEVELS}
        self._errors: list[_Annotation] = []
        self._counts: dict[Level, int] = dict.fromkeys(LEVELS, 0)

    def object(self, judged: JudgedObject) -> None:
        """Take the findings of the object that are not known from the baseline."""
        for pod in judged.pods:
            for placed in reported(pod, self._style):
                if placed.known:
                    continue
                finding, kind = placed.finding, level(pod, placed)
                self._counts[kind] += 1
                if len(self._held[kind]) < MAX_ANNOTATIONS:
                    where = location(judged, placed.region, self._style)
                    text = f"{judged.title}: {message(judged, placed)}"
                    self._held[kind].append(_Annotation(where, f"{finding.policy}/{finding.rule}", text))

    def error(self, error: InputError) -> None:
        """Take something that could not be judged: nothing is more severe."""
        self._counts["error"] += 1
        if len(self._errors) < MAX_ANNOTATIONS:
            where = error_location(error, self._style)
            self._errors.append(_Annotation(where, "cannot be judged", error.message))

    def finish(self, _summary: Summary, /) -> None:
        """Write the annotations."""
        self._held["error"] = [*self._errors, *self._held["error"]][:MAX_ANNOTATIONS]
        for kind in LEVELS:
            for annotation in self._held[kind]:
                self._write(_command(_COMMANDS[kind], annotation))
        more = [
            f"{self._counts[kind] - len(self._held[kind])} more of level {_COMMANDS[kind]}"
            for kind in LEVELS
            if self._counts[kind] > len(self._held[kind])
        ]
        if more:
            self._write(f"and {', '.join(more)}: GitHub shows {MAX_ANNOTATIONS} of each; -o text lists all\n")


def _command(name: str, annotation: _Annotation) -> str:
    path, region = annotation.where
    properties = {"file": path, "line": region.line, "endLine": region.end_line}
    if region.line == region.end_line:  # columns are for one line only
        properties |= {"col": region.column, "endColumn": region.end_column}
    properties["title"] = printable(annotation.title)
    written = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{name} {written}::{_data(printable(annotation.text))}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
