"""What judging a pod yields: results of rules, and findings that carry the policy's names.

What lives only while a pod is judged is a class with slots, here and elsewhere: these are made and read on every
review, in half the time of a NamedTuple or a frozen dataclass.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from app.model.patch import Operation
from app.model.pod import Container

Action = Literal["deny", "warn", "audit"]
Outcome = Literal["deny", "warn", "audit", "repair", "inject", "note"]


@dataclass(slots=True)
class Repair:
    """The one right answer to a violation: what to say about it, and the operations that make it."""

    message: str
    operations: list[Operation]


@dataclass(slots=True)
class Result:
    """What a rule found at one place.

    A ``violation`` counts by the action that the policy gives the rule; a ``warning`` is said but never refuses;
    a ``note`` is for who reads the details. ``final`` marks what no later webhook can be expected to mend and
    what the API server would refuse in its own words, so that it is refused early, with ours.
    """

    kind: Literal["violation", "warning", "note"]
    pointer: str
    message: str
    container: Container | None = None
    repair: Repair | None = None
    final: bool = False


class Finding(NamedTuple):
    """A result in the terms of the policy that asked for it.

    ``rule`` is the rule's or injection's name in the policy; ``operations`` are the changes of a repair or
    injection, relative to the object that holds the pod. ``early`` findings speak of changes, made or left out, so
    the mutating call says them; ``final`` ones (see Result) are for both calls; all others are for the validating
    call, on the final object.
    """

    policy: str
    rule: str
    outcome: Outcome
    pointer: str
    message: str
    container_kind: str | None = None
    container: str | None = None
    image: str | None = None
    help: str | None = None
    final: bool = False
    early: bool = False
    operations: tuple[Operation, ...] = ()

    @property
    def text(self) -> str:
        """The finding as one line: ``gpu-pods/no-privileged: container "a": ...``, with the policy's help."""
        line = f"{self.policy}/{self.rule}: {self.message}"
        return f"{line} ({self.help})" if self.help else line
