"""diff: what the cluster would change, as a unified diff of each object, one hunk a rule and place.

The lines are those of the object as ``-o yaml`` writes it, not those of the file.
"""

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import Final, NamedTuple

import click

from app.admission.review import printable
from app.documents.dump import dump
from app.policy.compiled import Policy
from app.report.changes import applied, changes
from app.report.formats import Write
from app.report.results import InputError, JudgedObject, Style, Summary

_CONTEXT: Final = 3
_COLORS: Final = {"-": "red", "+": "green", "@": "cyan"}


class _Line(NamedTuple):
    """A line with its sign in the diff, and what put it there or took it away."""

    sign: str
    text: str
    reason: str = ""


class Report:
    """Nothing for an object that stays as it is."""

    def __init__(self, write: Write, _policy: Policy, style: Style) -> None:
        self._write = write
        self._color = style.color

    def object(self, judged: JudgedObject) -> None:
        """Write the diff of the object."""
        lines: list[_Line] = []
        value = judged.value
        for change in changes(judged):
            lines = lines or [_Line(" ", text) for text in dump(value).splitlines()]
            value = applied(value, change.operations)
            lines = _changed(lines, dump(value).splitlines(), f"{change.rule}: {change.message}")
        if lines:
            name = judged.template_file or judged.source.name
            self._write(f"--- {printable(name)}\t{printable(judged.title)}\n")
            self._write(f"+++ {printable(name)}\t{printable(judged.title)} in the cluster\n")
            for line in _hunks(lines):
                color = _COLORS.get(line[0])
                self._write((click.style(line, fg=color) if self._color and color else line) + "\n")

    def error(self, error: InputError) -> None:
        """Nothing: standard error has it."""

    def finish(self, summary: Summary) -> None:
        """Nothing is left."""


def _changed(lines: list[_Line], new: list[str], reason: str) -> list[_Line]:
    """The lines of a diff after one more change, which leads to these new ones."""
    there = [number for number, line in enumerate(lines) if line.sign != "-"]
    result: list[_Line] = []
    done = 0
    for tag, start, end, new_start, new_end in _differences([lines[number].text for number in there], new):
        if tag == "equal":
            continue
        first = there[start] if start < len(there) else len(lines)
        result += lines[done:first]
        done = first if end == start else there[end - 1] + 1
        for line in lines[first:done]:
            if line.sign != "+":  # what an earlier change added was never there
                result.append(line if line.sign == "-" else _Line("-", line.text, reason))
        result += [_Line("+", text, reason) for text in new[new_start:new_end]]
    return result + lines[done:]


def _differences(old: list[str], new: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """As SequenceMatcher has it. What is the same before and after is not compared: a change is in one place."""
    limit = min(len(old), len(new))
    head = next((number for number in range(limit) if old[number] != new[number]), limit)
    limit -= head
    tail = next((number for number in range(limit) if old[-1 - number] != new[-1 - number]), limit)
    matcher = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        yield tag, start + head, end + head, new_start + head, new_end + head


def _hunks(lines: list[_Line]) -> Iterator[str]:
    """The hunks, each of lines with one reason. Context belongs to one hunk only."""
    runs = list(_runs(lines))
    shown = 0
    for number, (start, end) in enumerate(runs):
        following = runs[number + 1][0] if number + 1 < len(runs) else len(lines)
        gap = following - end
        before = max(shown, start - _CONTEXT)
        after = end + min(_CONTEXT, gap if following == len(lines) else gap // 2)
        shown = after
        hunk = lines[before:after]
        old, new = _span(lines[:before], hunk, "+"), _span(lines[:before], hunk, "-")
        yield f"@@ -{old} +{new} @@ {printable(lines[start].reason)}"
        yield from (line.sign + line.text for line in hunk)


def _runs(lines: list[_Line]) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(lines):
        end = start + 1
        if lines[start].sign != " ":
            while end < len(lines) and lines[end].sign != " " and lines[end].reason == lines[start].reason:
                end += 1
            yield start, end
        start = end


def _span(before: Iterable[_Line], hunk: list[_Line], absent: str) -> str:
    """Where a hunk is on one side, the one without lines of the sign ``absent``."""
    start = sum(line.sign != absent for line in before)
    length = sum(line.sign != absent for line in hunk)
    return f"{start + 1 if length else start},{length}"
