"""json: everything that was found, for programs. docs/check.md describes it; ``version`` grows when a key changes.

One pod a line, written as it is judged.
"""

from typing import Any, Final

import orjson

from app import __version__
from app.documents import Region
from app.policy.compiled import Policy
from app.report.formats import Write
from app.report.results import InputError, JudgedObject, JudgedPod, Placed, Style, Summary

VERSION: Final = 1


class Report:
    """The report as one JSON object."""

    def __init__(self, write: Write, policy: Policy, _style: Style) -> None:
        self._write = write
        self._separator = "\n"
        self._errors: list[InputError] = []
        tool = {"name": "gpugate", "version": __version__}
        policies = [{"name": each.name, "digest": each.digest} for each in policy.documents]
        write(f'{{"version":{VERSION},\n"tool":{_dump(tool)},\n"policies":{_dump(policies)},\n"pods":[')

    def object(self, judged: JudgedObject) -> None:
        """Write the pods of the object."""
        for pod in judged.pods:
            self._write(self._separator + _dump(_pod(judged, pod)))
            self._separator = ",\n"

    def error(self, error: InputError) -> None:
        """Keep the error: the list of them follows that of the pods."""
        self._errors.append(error)

    def finish(self, summary: Summary) -> None:
        """Write the errors and the summary."""
        errors = ",".join("\n" + _dump(_error(error)) for error in self._errors)
        counts = {
            "files": summary.files,
            "objects": summary.objects,
            "skipped": summary.skipped,
            "pods": summary.pods,
            "gpuPods": summary.gpu_pods,
            "refused": summary.refused,
            "warned": summary.warned,
            "changed": summary.changed,
            "exempt": summary.exempt,
            "known": summary.known,
            "errors": summary.errors,
        }
        self._write(f'],\n"errors":[{errors}],\n"summary":{_dump(counts)}}}\n')


def _pod(judged: JudgedObject, pod: JudgedPod) -> dict[str, Any]:
    return {
        "file": judged.source.name,
        "templateFile": judged.template_file,
        "line": None if judged.source.live else judged.line,
        "document": judged.document,
        "item": judged.item,
        "apiVersion": judged.api_version,
        "kind": judged.kind,
        "namespace": judged.namespace,
        "name": judged.name,
        "generateName": judged.generate_name,
        "template": pod.template,
        "guessed": pod.guessed,
        "gpu": pod.gpu,
        "mode": pod.mode,
        "allowed": pod.allowed,
        "changed": pod.changed,
        "exempt": pod.exempt,
        "findings": [_finding(placed, None if judged.source.live else placed.region) for placed in pod.findings],
        "patch": pod.patch,
    }


def _finding(placed: Placed, region: Region | None) -> dict[str, Any]:
    finding = placed.finding
    return {
        "policy": finding.policy,
        "rule": finding.rule,
        "outcome": finding.outcome,
        "containerKind": finding.container_kind,
        "container": finding.container,
        "pointer": finding.pointer,
        "line": region and region.line,
        "column": region and region.column,
        "endLine": region and region.end_line,
        "endColumn": region and region.end_column,
        "message": finding.message,
        "help": finding.help,
        "known": placed.known,
    }


def _error(error: InputError) -> dict[str, Any]:
    line, column = (None, None) if error.live else (error.line, error.column)
    return {"file": error.file, "line": line, "column": column, "message": error.message}


def _dump(value: Any) -> str:
    return orjson.dumps(value).decode()
