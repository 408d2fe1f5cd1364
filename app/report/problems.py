"""What CI systems are told of a run: which findings, how severe, in which file of the repository."""

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from app.documents import Region
from app.report.results import InputError, JudgedObject, JudgedPod, Placed, Style

Level = Literal["error", "warning", "note"]
"""How severe: the run's namespace refuses the pod; it warns, or another mode would refuse; it is only recorded."""

LEVELS: Final[tuple[Level, ...]] = ("error", "warning", "note")
"""Every level, the most severe first."""

_VIOLATIONS: Final = ("deny", "warn", "audit")
_START: Final = Region(1, 1, 1, 1)


class Location(NamedTuple):
    """A file of the repository, and the region in it."""

    path: str
    region: Region


def reported(pod: JudgedPod, style: Style) -> Iterator[Placed]:
    """The findings that a CI system should show: violations and warnings; changes and notes too if ``verbose``."""
    for placed in pod.findings:
        if style.verbose or placed.finding.outcome in _VIOLATIONS:
            yield placed


def level(pod: JudgedPod, placed: Placed) -> Level:
    """How severe a finding is. What is known from the baseline is only recorded."""
    outcome = placed.finding.outcome
    if placed.known or outcome not in ("deny", "warn"):
        return "note"
    return "warning" if outcome == "warn" or pod.allowed else "error"


def location(judged: JudgedObject, region: Region, style: Style) -> Location:
    """Where in the repository a finding is.

    The lines of what was rendered say nothing there: the start of the template or kustomization stands for them.
    """
    source = judged.source
    if source.rendered:
        file = judged.template_file or source.file
        return Location(style.path(file), _START) if file else Location(source.name, region)
    return Location(style.path(source.name), region)


def place_of(judged: JudgedObject, placed: Placed) -> str:
    """Where in the input a finding is, for people; in an object of a cluster by its pointer."""
    region = placed.region
    return placed.finding.pointer if judged.source.live else f"{judged.source.name}:{region.line}:{region.column}"


def error_location(error: InputError, style: Style) -> Location:
    """Where something is that could not be read."""
    return Location(style.path(error.file), Region(error.line, error.column, error.line, error.column))


def message(judged: JudgedObject, placed: Placed) -> str:
    """What a finding says, with the policy's help, and where it is in a text that is not in the repository."""
    finding, region, _ = placed
    said = f"{finding.message} ({finding.help})" if finding.help else finding.message
    if judged.source.rendered and (judged.template_file or judged.source.file):
        return f"{said} [{judged.source.name}:{region.line}:{region.column}]"
    return said
