"""A run that judges things: what it found goes to every report, and decides how it ends."""

from collections.abc import Sequence

import click

from app.admission.review import printable
from app.report.formats import Report
from app.report.results import FailOn, InputError, JudgedObject, Summary


class Reporting:
    """The reports of one run; ``failed`` tells that something was found that it fails for."""

    def __init__(self, reports: Sequence[Report], fail_on: FailOn, summary: Summary) -> None:
        self.summary = summary
        self.failed = False
        self._reports = reports
        self._fail_on = fail_on

    def take(self, found: JudgedObject | InputError) -> None:
        """Report an object, or what could not be judged, which goes to standard error too."""
        if isinstance(found, InputError):
            self.summary.errors += 1
            click.echo(f"Error: {printable(str(found))}", err=True)
            for report in self._reports:
                report.error(found)
            return
        self.summary.count(found)
        self.failed = self.failed or any(pod.fails(self._fail_on) for pod in found.pods)
        for report in self._reports:
            report.object(found)

    def finish(self) -> None:
        """Write what is left of the reports."""
        for report in self._reports:
            report.finish(self.summary)
