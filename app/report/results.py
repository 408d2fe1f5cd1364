"""What a run found, in memory: the one model that every format is written from, one object at a time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from app.admission.webhook import APPLIES
from app.documents import Region
from app.model.finding import Finding, Outcome
from app.model.patch import Operation
from app.policy.compiled import Exemption, Mode
from app.report.source_text import SourceText

FailOn = Literal["deny", "warn", "change", "none"]
"""What fails a run: refusals; warnings too; changes too; nothing."""

FAILING: Final[dict[FailOn, frozenset[Outcome]]] = {
    "none": frozenset(),
    "deny": frozenset({"deny"}),
    "warn": frozenset({"deny", "warn"}),
    "change": frozenset({"deny", "warn", "repair", "inject"}),
}
"""The outcomes that can fail a run."""


class Placed(NamedTuple):
    """A finding, and the region of the input that it is about. What is ``known`` from the baseline fails nothing."""

    finding: Finding
    region: Region
    known: bool = False


@dataclass(frozen=True, slots=True)
class JudgedPod:
    """The verdict on one pod, or on the pods of one template.

    ``template`` is the JSON Pointer of the pod spec in the object; ``guessed`` tells that the kind is not known and
    the spec was found by its shape. ``allowed`` is what the mode answers; ``patch`` is what the mode applies, relative
    to the object, and empty where it applies nothing.
    """

    template: str
    guessed: bool
    gpu: bool
    mode: Mode
    allowed: bool
    exempt: Exemption | None
    findings: tuple[Placed, ...]
    patch: tuple[Operation, ...]

    @property
    def changed(self) -> bool:
        """True if the pod is admitted, and not as it was sent; also where the object has no place for the change."""
        made = any(placed.finding.outcome in ("repair", "inject") for placed in self.findings)
        return self.allowed and made and self.mode in APPLIES

    @property
    def warned(self) -> bool:
        """True if the pod is admitted, and there is a warning or a violation that the mode lets through."""
        return self.allowed and any(placed.finding.outcome in ("deny", "warn") for placed in self.findings)

    def fails(self, fail_on: FailOn) -> bool:
        """True if the pod fails a run for something that is not known from the baseline."""
        new = {placed.finding.outcome for placed in self.findings if not placed.known} & FAILING[fail_on]
        if fail_on == "deny":
            return bool(new) and not self.allowed
        return not new.isdisjoint(("deny", "warn")) or (bool(new) and self.changed)


@dataclass(frozen=True, slots=True)
class JudgedObject:
    """An object of the input and its pods; ``pods`` is empty for an object that holds none.

    ``document`` is the number of its document in the file, from 1; ``item`` that inside a List, from 0, else None.
    ``value`` is the object as it was read, not to be changed. ``namespace`` is the one that it was judged in; it and
    ``line`` say nothing where there is no pod.
    ``template_file`` is the file that it was rendered from, where Helm's output says so.
    ``incomplete`` tells that a pod of it could not be judged; an error says why.
    """

    source: SourceText
    line: int
    document: int
    item: int | None
    api_version: str
    kind: str
    namespace: str
    name: str | None
    generate_name: str | None
    value: dict[str, Any]
    pods: tuple[JudgedPod, ...]
    incomplete: bool = False
    template_file: str | None = None

    @property
    def title(self) -> str:
        """What people call the object: ``Deployment research/trainer``."""
        name = self.name or (f"{self.generate_name}*" if self.generate_name else "(no name)")
        return f"{self.kind} {self.namespace}/{name}"


class InputError(NamedTuple):
    """Something in the input that could not be judged; ``line`` and ``column`` count from 1.

    Of a cluster, ``file`` says what it is about, and lines mean nothing: they are 1 where a format needs one.
    """

    file: str
    line: int
    column: int
    message: str
    live: bool = False

    def __str__(self) -> str:
        return f"{self.file}: {self.message}" if self.live else f"{self.file}:{self.line}:{self.column}: {self.message}"


@dataclass(slots=True)
class Summary:
    """How many of what; ``skipped`` counts objects that hold no pod, ``known`` findings of the baseline.

    ``nouns`` are what ``pods`` and ``files`` are called: of a cluster they are pod templates and namespaces.
    """

    files: int = 0
    objects: int = 0
    skipped: int = 0
    pods: int = 0
    gpu_pods: int = 0
    refused: int = 0
    warned: int = 0
    changed: int = 0
    exempt: int = 0
    known: int = 0
    errors: int = 0
    nouns: tuple[str, str] = ("pod", "file")

    def count(self, judged: JudgedObject) -> None:
        """Add an object that was judged."""
        self.objects += 1
        self.skipped += not judged.pods and not judged.incomplete
        self.pods += len(judged.pods)
        for pod in judged.pods:
            self.gpu_pods += pod.gpu
            self.refused += not pod.allowed
            self.warned += pod.warned
            self.changed += pod.changed
            self.exempt += pod.exempt is not None
            self.known += sum(placed.known for placed in pod.findings)


def as_given(name: str) -> str:
    """The name of an input as it was given, for reports that need no paths."""
    return name


@dataclass(frozen=True, slots=True)
class Style:
    """How a report is written.

    With colour, only what matters (``quiet``), or everything (``verbose``). ``fail_on`` is what fails the run;
    ``path`` makes of the name of an input its path in the repository, which CI systems want.
    """

    color: bool = False
    quiet: bool = False
    verbose: bool = False
    fail_on: FailOn = "deny"
    path: Callable[[str], str] = as_given
