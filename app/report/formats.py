"""The formats by name, and what each of them is.

A format is a module of its name here, with a class ``Report``. It is told of each object as it is judged and writes
at once or at the end, as its format allows: a run over thousands of objects holds one of them at a time.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Final, Protocol

from app.policy.compiled import Policy
from app.report.results import InputError, JudgedObject, Style, Summary

FORMATS: Final = ("text", "json", "yaml", "diff", "sarif", "junit", "github", "gitlab")
"""Every format, the default first."""

Write = Callable[[str], object]
"""Where a report puts its text."""


class Report(Protocol):
    """One report being written, in one format."""

    def __init__(self, write: Write, policy: Policy, style: Style) -> None:
        """Begin a report of what ``policy`` says."""

    def object(self, judged: JudgedObject, /) -> None:
        """Take the next object, in the order of the input; also one that holds no pod."""

    def error(self, error: InputError, /) -> None:
        """Take something that could not be judged. Whoever runs the report also says it on standard error."""

    def finish(self, summary: Summary, /) -> None:
        """Write what is left, and the end."""


def new_report(name: str, write: Write, policy: Policy, style: Style) -> Report:
    """A report in the format of this name, which is one of FORMATS."""
    report: Report = import_module(f"app.report.{name}").Report(write, policy, style)
    return report
