"""What a run found, in memory: the one model that every format is written from, one object at a time."""

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass
from typing import Any, NamedTuple

from app.documents import Region
from app.model.finding import Finding
from app.model.patch import Operation
from app.policy.compiled import Exemption, Mode


class SourceText:
    """The text of one input, for formats that show the line of a finding."""

    __slots__ = ("_content", "_lines", "name")

    def __init__(self, name: str, content: bytes) -> None:
        self.name = name
        self._content = content
        self._lines: list[str] | None = None

    def line(self, number: int) -> str:
        """The line with this number, from 1; "" if there is none."""
        if self._lines is None:
            # PowerShell writes UTF-16, with a byte order mark.
            encoding = "utf-16" if self._content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"
            self._lines = self._content.decode(encoding, "replace").split("\n")
        return self._lines[number - 1].removesuffix("\r") if 0 < number <= len(self._lines) else ""


class Placed(NamedTuple):
    """A finding, and the region of the input that it is about."""

    finding: Finding
    region: Region


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
        """True if the pod is admitted, and not as it was sent."""
        return self.allowed and bool(self.patch)

    @property
    def warned(self) -> bool:
        """True if the pod is admitted, and there is a warning or a violation that the mode lets through."""
        return self.allowed and any(finding.outcome in ("deny", "warn") for finding, _ in self.findings)


@dataclass(frozen=True, slots=True)
class JudgedObject:
    """An object of the input and its pods; ``pods`` is empty for an object that holds none.

    ``document`` is the number of its document in the file, from 1; ``item`` that inside a List, from 0, else None.
    ``value`` is the object as it was read, not to be changed. ``namespace`` is the one that it was judged in; it and
    ``line`` say nothing where there is no pod.
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


class InputError(NamedTuple):
    """Something in the input that could not be judged; ``line`` and ``column`` count from 1."""

    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


@dataclass(slots=True)
class Summary:
    """How many of what; ``skipped`` counts objects that hold no pod."""

    files: int = 0
    objects: int = 0
    skipped: int = 0
    pods: int = 0
    gpu_pods: int = 0
    refused: int = 0
    warned: int = 0
    changed: int = 0
    exempt: int = 0
    errors: int = 0

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


@dataclass(frozen=True, slots=True)
class Style:
    """How a report for people is written: with colour, only what matters (``quiet``), or everything (``verbose``)."""

    color: bool = False
    quiet: bool = False
    verbose: bool = False
