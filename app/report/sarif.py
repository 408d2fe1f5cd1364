"""sarif: SARIF 2.1.0, with what GitHub's code scanning wants and within its limits.

Source: the OASIS standard, and "SARIF support for code scanning" in GitHub's documentation.
"""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

import orjson

from app import __version__
from app.documents import Region
from app.policy.compiled import BoundRule, Policy
from app.report.baseline import Fingerprints
from app.report.formats import Write
from app.report.problems import LEVELS, Level, Location, error_location, level, location, message, reported
from app.report.results import InputError, JudgedObject, JudgedPod, Placed, Style, Summary

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MAX_RESULTS: Final = 25_000
"""GitHub refuses a run with more results."""

_MAX_TEXT: Final = 1024  # of a rule's descriptions
_LEVELS: Final[dict[str, Level]] = {"deny": "error", "warn": "warning", "audit": "note"}
_SEVERITIES: Final[dict[Level, str]] = {"error": "error", "warning": "warning", "note": "recommendation"}
_IN_BASELINE: Final = [{"kind": "external", "justification": "known from the baseline"}]


class Report:
    """One run. Results are held as text until the end, the most severe first, as only so many may be written."""

    def __init__(self, write: Write, policy: Policy, style: Style) -> None:
        self._write = write
        self._style = style
        self._rules = list(_rules(policy))
        self._indexes = {rule["id"]: index for index, rule in reversed(list(enumerate(self._rules)))}
        self._fingerprints = Fingerprints(style.path)
        self._results: dict[Level, list[bytes]] = {each: [] for each in LEVELS}
        self._found = 0
        self._errors: list[dict[str, Any]] = []

    def object(self, judged: JudgedObject) -> None:
        """Take the results of the object."""
        for pod in judged.pods:
            shown = {id(placed) for placed in reported(pod, self._style)}
            for placed in pod.findings:
                fingerprint = self._fingerprints.of(judged, placed)
                if id(placed) not in shown:
                    continue
                self._found += 1
                held = self._results[level(pod, placed)]
                if len(held) < MAX_RESULTS:
                    held.append(orjson.dumps(self._result(judged, pod, placed, fingerprint)))

    def error(self, error: InputError) -> None:
        """Take something that could not be judged: no result, but the run did not succeed."""
        where = _location(error_location(error, self._style))
        said = {"text": error.message}
        self._errors.append({"level": "error", "message": said, "locations": [{"physicalLocation": where}]})

    def finish(self, summary: Summary) -> None:
        """Write the run."""
        results = [each for name in LEVELS for each in self._results[name]][:MAX_RESULTS]
        notes = list(self._errors)
        if self._found > len(results):
            left_out = f"{self._found - len(results)} of {self._found} results are left out, the least severe ones."
            notes.append({"level": "warning", "message": {"text": left_out}})
        driver = {"name": "gpugate", "version": __version__, "semanticVersion": __version__, "rules": self._rules}
        invocation = {"executionSuccessful": not summary.errors, "toolExecutionNotifications": notes}
        self._write(
            f'{{"$schema":{_dump(SCHEMA)},"version":"2.1.0","runs":[{{"tool":{{"driver":{_dump(driver)}}},\n'
            f'"columnKind":"unicodeCodePoints","invocations":[{_dump(invocation)}],\n"results":['
        )
        separator = "\n"
        for each in results:
            self._write(separator + each.decode())
            separator = ",\n"
        self._write("]}]}\n")

    def _result(self, judged: JudgedObject, pod: JudgedPod, placed: Placed, fingerprint: str) -> dict[str, Any]:
        finding = placed.finding
        rule = f"{finding.policy}/{finding.rule}"
        result: dict[str, Any] = {
            "ruleId": rule,
            "ruleIndex": self._indexes[rule],
            "level": level(pod, placed),
            "message": {"text": message(judged, placed)},
            "locations": [
                {
                    "physicalLocation": _location(location(judged, placed.region, self._style)),
                    "logicalLocations": [{"fullyQualifiedName": f"{judged.title}{finding.pointer}"}],
                }
            ],
            # GitHub's own primaryLocationLineHash is left to its uploader, which warns about any other value.
            "partialFingerprints": {"gpugate/v1": fingerprint},
        }
        if placed.known:
            result["suppressions"] = _IN_BASELINE
        return result


def _rules(policy: Policy) -> Iterator[dict[str, Any]]:
    """The rules and injections of the policy as reporting descriptors."""
    for bound in policy.rules:
        rule = bound.rule
        severity = _LEVELS[bound.action]
        yield _descriptor(f"{bound.policy}/{bound.name}", rule.summary, rule.why, _help(bound), severity)
    for injection in policy.injections:
        summary = f"GPU pods get what the injection {injection.name} adds"
        why = "The policy adds to GPU pods what their authors should not have to know."
        comply = "Leave out of the pod what contradicts the injection; see it in the policy."
        yield _descriptor(f"{injection.policy}/{injection.name}", summary, why, comply, "error")
    for foreign in policy.kyverno:
        for kyverno in foreign.rules:
            summary = kyverno.summary or f"Kyverno policy {foreign.name}, rule {kyverno.name}"
            why = foreign.description or f"The Kyverno policy {foreign.name} asks for it."
            comply = "Change what the message names, or see the rule in the policy."
            yield _descriptor(f"{foreign.name}/{kyverno.name}", summary, why, comply, "error")


def _help(bound: BoundRule) -> str:
    return f"{bound.rule.comply}\n\n{bound.help}" if bound.help else bound.rule.comply


def _descriptor(identifier: str, summary: str, why: str, comply: str, severity: Level) -> dict[str, Any]:
    return {
        "id": identifier,
        "name": identifier.rpartition("/")[2],
        "shortDescription": {"text": summary[:_MAX_TEXT]},
        "fullDescription": {"text": why[:_MAX_TEXT]},
        "help": {"text": comply, "markdown": f"{why}\n\n**How to comply.** {comply}"},
        "defaultConfiguration": {"level": severity},
        "properties": {
            "tags": ["kubernetes", "gpu"],
            "precision": "very-high",
            "problem.severity": _SEVERITIES[severity],
        },
    }


def _location(where: Location) -> dict[str, Any]:
    return {"artifactLocation": {"uri": _uri(where.path)}, "region": _region(where.region)}


def _region(region: Region) -> dict[str, int]:
    return {
        "startLine": region.line,
        "startColumn": region.column,
        "endLine": region.end_line,
        "endColumn": region.end_column,
    }


def _uri(path: str) -> str:
    """A reference relative to the root of the repository; what lies outside it is an absolute URI."""
    return f"file://{quote(path)}" if path.startswith("/") else quote(path)


def _dump(value: Any) -> str:
    return orjson.dumps(value).decode()
