"""gitlab: a Code Quality report, which GitLab shows in merge requests.

Source: "Code Quality report format" in GitLab's documentation.
"""

from typing import Any, Final

import orjson

from app.policy.compiled import Policy
from app.report.baseline import Fingerprints
from app.report.formats import Write
from app.report.problems import Level, error_location, level, location, message, reported
from app.report.results import InputError, JudgedObject, Style, Summary

_SEVERITIES: Final[dict[Level, str]] = {"error": "critical", "warning": "minor", "note": "info"}


class Report:
    """One JSON array, one finding a line. GitLab shows one finding a fingerprint, and compares branches by them."""

    def __init__(self, write: Write, _policy: Policy, style: Style) -> None:
        self._write = write
        self._style = style
        self._fingerprints = Fingerprints(style.path)
        self._separator = "\n"
        write("[")

    def object(self, judged: JudgedObject) -> None:
        """Write the findings of the object."""
        for pod in judged.pods:
            shown = {id(placed) for placed in reported(pod, self._style)}
            for placed in pod.findings:
                fingerprint = self._fingerprints.of(judged, placed)
                if id(placed) in shown:
                    finding = placed.finding
                    where = location(judged, placed.region, self._style)
                    self._entry(
                        f"{judged.title}: {message(judged, placed)}",
                        f"{finding.policy}/{finding.rule}",
                        fingerprint,
                        _SEVERITIES[level(pod, placed)],
                        where.path,
                        where.region.line,
                    )

    def error(self, error: InputError) -> None:
        """Write what could not be judged."""
        where = error_location(error, self._style)
        fingerprint = self._fingerprints.of_error(where.path, error.message)
        self._entry(error.message, "input", fingerprint, "blocker", where.path, where.region.line)

    def finish(self, _summary: Summary, /) -> None:
        """End the array."""
        self._write("\n]\n")

    def _entry(self, description: str, name: str, fingerprint: str, severity: str, path: str, line: int) -> None:
        entry: dict[str, Any] = {
            "description": description,
            "check_name": name,
            "fingerprint": fingerprint,
            "severity": severity,
            "location": {"path": path, "lines": {"begin": line}},
        }
        self._write(self._separator + orjson.dumps(entry).decode())
        self._separator = ",\n"
