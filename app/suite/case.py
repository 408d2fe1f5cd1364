"""A case of a test, and what comes of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, NamedTuple, Protocol

from app.model.context import ClusterFacts
from app.policy.compiled import Mode, Policy
from app.suite.judged import Judged
from app.workloads.kinds import Kinds

Status = Literal["passed", "failed", "error", "updated", "unproven"]


class Place(NamedTuple):
    """A place in a file; line and column count from 1."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Failure(NamedTuple):
    """Something that is not as expected: where that is written, what was found, what was wanted."""

    place: Place
    message: str


class CaseError(Exception):
    """The case cannot be run, so it says nothing of the policy. ``place`` is where it is wrong."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(message)
        self.place = place
        self.message = message


@dataclass(frozen=True, slots=True)
class Reference:
    """An object: the ``value`` that stands in the test, or one of a file.

    ``kind``, ``namespace`` and ``name`` choose among the objects of the file. ``place`` is where the test refers to it.
    """

    place: Place
    file: str | None = None
    value: dict[str, Any] | None = None
    kind: str | None = None
    namespace: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the policy.

    Without ``mode`` the policy is asked for that of a namespace with these ``labels``, or enforces where these are
    not given either. ``facts`` are cluster facts in the test, or a file of them.
    """

    object: Reference
    old: Reference | None = None
    operation: Literal["CREATE", "UPDATE"] | None = None
    mode: Mode | None = None
    labels: Mapping[str, str] | None = None
    namespace: str | None = None
    user: str | None = None
    today: date | None = None
    facts: str | dict[str, Any] | None = None


class Expectation(Protocol):
    """What a case wants."""

    @property
    def golden(self) -> str | None:
        """The file of the object as it is afterwards, if there is to be one."""

    def failures(self, judged: Judged) -> Iterable[Failure]:
        """What is not so."""


@dataclass(frozen=True, slots=True)
class Case:
    """One question, and the answer that is expected."""

    name: str
    place: Place
    question: Question
    expectation: Expectation


@dataclass(frozen=True, slots=True)
class Suite:
    """Cases for one policy. ``policies`` are the files and folders that make it."""

    name: str
    file: str
    policies: tuple[str, ...]
    cases: tuple[Case, ...]


class AnyCase(Protocol):
    """A case of whatever kind of test, as reports show it."""

    @property
    def name(self) -> str:
        """What the case shows; unique in its suite."""

    @property
    def place(self) -> Place:
        """Where it is written."""


class AnySuite(Protocol):
    """A suite of whatever kind of test, as reports show it."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def file(self) -> str:
        """The file, or the folder, that it is written in."""

    @property
    def cases(self) -> Sequence[AnyCase]:
        """Its cases."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What came of a case.

    An ``error`` is one that could not be run; ``updated`` had its golden rewritten; ``unproven`` is one that Kyverno
    counts as passed although nothing was shown, and ``failures`` say why not.
    """

    case: AnyCase
    status: Status
    seconds: float
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """What came of a suite; ``policy`` is the GpuPolicy, None if it could not be loaded or the test is Kyverno's.

    With ``errors`` nothing was run.
    """

    suite: AnySuite
    policy: Policy | None
    cases: tuple[CaseResult, ...] = ()
    errors: tuple[Failure, ...] = ()


class Sources(NamedTuple):
    """How files become what the tests need: those of a policy, cluster facts, and the kinds that hold pods."""

    policy_files: Callable[[str], list[tuple[str, bytes]]]
    parse_facts: Callable[[bytes], ClusterFacts]
    kinds_of: Callable[[Policy], Kinds]
