"""text: what was found, for people."""

from typing import Final
from unicodedata import combining, east_asian_width

import click

from app.admission.review import printable
from app.admission.webhook import APPLIES
from app.model.words import counted
from app.policy.compiled import Policy
from app.report.formats import Write
from app.report.problems import place_of
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
            shown = [placed for placed in pod.findings if self._shows(placed)]
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

    def _shows(self, placed: Placed) -> bool:
        outcome = placed.finding.outcome
        if self._style.quiet:
            return outcome in ("deny", "warn", "audit") and not placed.known
        return self._style.verbose or not (placed.known or outcome == "note")

    def _heading(self, judged: JudgedObject, pod: JudgedPod) -> str:
        several = f" {pod.template}" if len(judged.pods) > 1 else ""
        who = self._paint(printable(judged.title + several), bold=True)
        source = f", from {judged.template_file}" if judged.template_file else ""
        where = "" if judged.source.live else f" in {printable(judged.source.name + source)}"
        return f"{who}{where}: {self._verdict(pod)}\n"

    def _verdict(self, pod: JudgedPod) -> str:
        if pod.mode == "disabled":
            return "not looked at, as the mode is disabled"
        if pod.exempt:
            return f"exempt {_EXEMPT[pod.exempt]}"
        mode = "" if pod.mode == "enforce" else f" (mode {pod.mode})"
        if not pod.allowed:
            known = all(placed.known for placed in pod.findings if placed.finding.outcome == "deny")
            return self._paint("refused, as is known" if known else "refused", "red", bold=True) + mode
        if pod.changed:
            return self._paint("admitted, changed", "green") + mode
        return (self._paint("admitted, with warnings", "yellow") if pod.warned else "admitted") + mode

    def _finding(self, judged: JudgedObject, pod: JudgedPod, placed: Placed) -> str:
        finding, _, known = placed
        place = printable(f"{place_of(judged, placed)}:")
        color = _COLORS[finding.outcome]
        outcome = f"known {finding.outcome}" if known else finding.outcome
        if finding.outcome in _CHANGES:
            sign = "+" if pod.mode in APPLIES else f"left alone in mode {pod.mode}:"
            said = printable(f"{finding.message} ({finding.policy}/{finding.rule})")
            return f"  {place} {self._paint(sign, color)} {said}\n"
        line = f"  {place} {self._paint(outcome, color, bold=True)} {printable(finding.text)}\n"
        return line if known or finding.outcome == "note" else line + self._excerpt(judged, placed, color)

    def _excerpt(self, judged: JudgedObject, placed: Placed, color: str) -> str:
        """The line of the input with the field underlined, if it is not too long to show."""
        region = placed.region
        line = printable(judged.source.line(region.line))
        if not line or len(line) > _LONGEST_LINE:
            return ""
        end = region.end_column - 1 if region.end_line == region.line else len(line)
        start = region.column - 1
        carets = self._paint("^" * max(1, _cells(line[start:end])), color)
        number = str(region.line)
        bar = self._paint("|", "bright_black")
        return f"    {number} {bar} {line}\n    {' ' * len(number)} {bar} {' ' * _cells(line[:start])}{carets}\n"

    def _paint(self, text: str, color: str | None = None, *, bold: bool = False) -> str:
        return click.style(text, fg=color, bold=bold or None) if self._style.color else text


def _cells(text: str) -> int:
    """How many cells of a terminal the text takes: Korean letters and emoji take two each."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(letter) else 1 + (east_asian_width(letter) in "WF") for letter in text)


def _sum(summary: Summary) -> str:
    noun, unit = summary.nouns
    files = counted(summary.files, unit)
    others = f"{counted(summary.skipped, 'other object')} without a pod"
    failed = f"; {counted(summary.errors, 'error')}: not everything was judged" if summary.errors else ""
    if not summary.pods:
        return f"No {noun}s in {files}{f' ({others})' if summary.skipped else ''}{failed}."
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
    known = f"; {counted(summary.known, 'finding')} known from the baseline" if summary.known else ""
    pods = f"{counted(summary.pods, noun)} ({summary.gpu_pods} with GPUs)"
    return f"{pods} in {files}: {verdict}{known}{skipped}{failed}."
