"""What becomes of a rule of Kyverno."""

from dataclasses import dataclass, field
from typing import Any, Literal

Verdict = Literal["same", "better", "different", "not taken"]


class NotTaken(Exception):
    """The rule has no counterpart; the text says why."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A rule or an injection of a GpuPolicy, as its document has it, without ``match`` and ``action``."""

    kind: Literal["rule", "inject"]
    entry: dict[str, Any]

    @property
    def id(self) -> str:
        """What it is: the rule's id, or what the injection adds."""
        return str(self.entry.get("rule") or next(iter(self.entry)))


@dataclass(frozen=True, slots=True)
class Reach:
    """Which pods a rule is for: those that ask for one of the ``resources``, in a ``match`` as a GpuPolicy has it.

    ``gated``: by a condition of the rule, rather than by what it asks of them.
    """

    resources: frozenset[str] = frozenset()
    match: dict[str, Any] = field(default_factory=dict)
    gated: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One rule of one policy, what it became, and how that compares.

    ``better`` are cases in which the original is wrong, ``different`` others in which the two differ, ``notes`` what
    else to know. ``message`` is the original's own.
    """

    policy: str
    rule: str
    verdict: Verdict
    becomes: tuple[str, ...] = ()
    better: tuple[str, ...] = ()
    different: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    message: str = ""
    entries: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class Migration:
    """The GpuPolicy (None if no rule has a counterpart), a row for each rule, and what the shipped policy adds."""

    document: dict[str, Any] | None
    rows: tuple[Row, ...]
    additions: tuple[str, ...] = ()
