"""text: what was found, for people."""

from typing import Final

import click

from app.admission.review import printable
from app.policy.compiled import Policy
from app.report.formats import Write
from app.report.results import InputError, JudgedObject, JudgedPod, Placed, Style, Summary

_COLORS: Final[dict[str, str]] = {
    "deny": "red",
    "warn": "yellow",
    "audit": "cyan",
    "repair": "green",
    "inject": "green",
    "note": "bright_black",
}
_CHANGES: Final = ("repair", "inject")
_EXEMPT: Final = {"namespace": "by its namespace", "serviceAccount": "by its service account", "pod": "by its labels"}
_LONGEST_LINE: Final = 160


class Report:
    """One paragraph a pod that there is something to say about, then one line that sums up.

    ``quiet`` leaves only violations and warnings; ``verbose`` adds notes and the pods without a finding.
    """

    def __init__(self, write: Write, _policy: Policy, style: Style) -> None:
        self._write = write
        self._style = style

    def object(self, judged: JudgedObject) -> None:
        """Write the object's pods."""
        for pod in judged.pods:
            shown = [placed for placed in pod.findings if self._shows(placed.finding.outcome)]
            if shown or self._style.verbose:
                self._write(self._heading(judged, pod))
                for placed in shown:
                    self._write(self._finding(judged, pod, placed))
                self._write("\n")

    def error(self, error: InputError) -> None:
        """Nothing: standard error has it, beside this."""

    def finish(self, summary: Summary) -> None:
        """Write the line that sums up."""
        if not self._style.quiet:
            self._write(f"{_sum(summary)}\n")

    def _shows(self, outcome: str) -> bool:
        if self._style.quiet:
            return outcome in ("deny", "warn", "audit")
        return outcome != "note" or self._style.verbose

    def _heading(self, judged: JudgedObject, pod: JudgedPod) -> str:
        name = judged.name or (f"{judged.generate_name}*" if judged.generate_name else "(no name)")
        several = f" {pod.template}" if len(judged.pods) > 1 else ""
        who = printable(f"{judged.kind} {judged.namespace}/{name}{several}")
        return f"{self._paint(who, bold=True)} in {printable(judged.source.name)}: {self._verdict(pod)}\n"

    def _verdict(self, pod: JudgedPod) -> str:
        if pod.mode == "disabled":
            return "not looked at, as the mode is disabled"
        if pod.exempt:
            return f"exempt {_EXEMPT[pod.exempt]}"
        mode = "" if pod.mode == "enforce" else f" (mode {pod.mode})"
        if not pod.allowed:
            return self._paint("refused", "red", bold=True) + mode
        if pod.changed:
            return self._paint("admitted, changed", "green") + mode
        return (self._paint("admitted, with warnings", "yellow") if pod.warned else "admitted") + mode

    def _finding(self, judged: JudgedObject, pod: JudgedPod, placed: Placed) -> str:
        finding, region = placed
        place = printable(f"{judged.source.name}:{region.line}:{region.column}:")
        color = _COLORS[finding.outcome]
        if finding.outcome in _CHANGES:
            sign = "+" if pod.patch else f"left alone in mode {pod.mode}:"
            said = printable(f"{finding.message} ({finding.policy}/{finding.rule})")
            return f"  {place} {self._paint(sign, color)} {said}\n"
        line = f"  {place} {self._paint(finding.outcome, color, bold=True)} {printable(finding.text)}\n"
        return line if finding.outcome == "note" else line + self._excerpt(judged, placed, color)

    def _excerpt(self, judged: JudgedObject, placed: Placed, color: str) -> str:
        """The line of the input with the field underlined, if it is not too long to show."""
        region = placed.region
        line = printable(judged.source.line(region.line))
        if not line or len(line) > _LONGEST_LINE:
            return ""
        end = region.end_column - 1 if region.end_line == region.line else len(line)
        width = max(1, min(end, len(line)) - region.column + 1)
        number = str(region.line)
        bar = self._paint("|", "bright_black")
        carets = self._paint("^" * width, color)
        return f"    {number} {bar} {line}\n    {' ' * len(number)} {bar} {' ' * (region.column - 1)}{carets}\n"

    def _paint(self, text: str, color: str | None = None, *, bold: bool = False) -> str:
        return click.style(text, fg=color, bold=bold or None) if self._style.color else text


def _sum(summary: Summary) -> str:
    files = _number(summary.files, "file")
    others = f"{_number(summary.skipped, 'other object')} without a pod"
    failed = f"; {_number(summary.errors, 'error')}: not everything was judged" if summary.errors else ""
    if not summary.pods:
        return f"No pods in {files}{f' ({others})' if summary.skipped else ''}{failed}."
    counts = [
        f"{count} {what}"
        for count, what in (
            (summary.refused, "refused"),
            (summary.warned, "with warnings"),
            (summary.changed, "changed"),
            (summary.exempt, "exempt"),
        )
        if count
    ]
    verdict = ", ".join(counts) or "all admitted as they are"
    skipped = f"; {others}" if summary.skipped else ""
    return f"{_number(summary.pods, 'pod')} ({summary.gpu_pods} with GPUs) in {files}: {verdict}{skipped}{failed}."


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
