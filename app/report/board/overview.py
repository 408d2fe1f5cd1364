"""A snapshot as the board shows it: namespaces with their counts, their next step, and the whole added up.

A snapshot holds what asks for GPUs, and what else has a finding: that is what is counted, and called GPU workloads.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal, NamedTuple, get_args

from app.model.words import counted
from app.policy.compiled import Mode
from app.report.rollout import Standing, consequences, standings
from app.report.snapshot import NamespaceState, Snapshot, SnapshotFinding

Outlook = Literal["refused", "warned", "changed", "ready", "exempt"]
"""What becomes of a workload in `enforce`, the worst first."""
OUTLOOKS: Final[tuple[Outlook, ...]] = get_args(Outlook)
BAR: Final[tuple[Outlook, ...]] = ("ready", "changed", "warned", "refused")
"""What bars show, the good end first."""
_FAULTS: Final = frozenset({"deny", "warn", "audit"})
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def outlook(workload: Standing) -> Outlook:
    """What becomes of the workload."""
    return "exempt" if workload.exempt else workload.state


def findings(workload: Standing) -> Iterator[SnapshotFinding]:
    """Every finding, of all its pod templates."""
    return (finding for template in workload.templates for finding in template.findings)


def rules_against(workload: Standing) -> frozenset[str]:
    """The rules that find fault with the workload, as the policy names them."""
    return frozenset(finding.rule for finding in findings(workload) if finding.outcome in _FAULTS)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many workloads have which outlook; ``pods`` are theirs."""

    of: Counter[Outlook]
    pods: int

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.of.values())


Tone = Literal["clear", "some", "blocked", "done"]


class Step(NamedTuple):
    """What the next mode of a namespace would do; ``to`` is None where there is none."""

    to: Mode | None
    tone: Tone
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """A namespace, its workloads the worst first. ``slug`` stands for it in addresses and names of files."""

    namespace: NamespaceState
    slug: str
    workloads: tuple[Standing, ...]
    counts: Counts
    step: Step
    rules: frozenset[str]

    @property
    def name(self) -> str:
        """The namespace's."""
        return self.namespace.name

    @property
    def mode(self) -> Mode:
        """The mode in force."""
        return self.namespace.mode


class RuleCount(NamedTuple):
    """How many workloads, in how many namespaces, a rule finds fault with; ``refused`` are those that would break."""

    rule: str
    refused: int
    workloads: int
    namespaces: int


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything on the board, in the order that asks for attention first."""

    snapshot: Snapshot
    rows: tuple[Row, ...]
    counts: Counts
    modes: Counter[Mode]
    rules: tuple[RuleCount, ...]

    def row(self, slug: str) -> Row | None:
        """The namespace of an address."""
        return next((row for row in self.rows if row.slug == slug), None)


def overview(snapshot: Snapshot) -> Overview:
    """What the board shows of a snapshot."""
    rows = sorted(
        map(_row, snapshot.namespaces), key=lambda row: (-row.counts.of["refused"], not row.workloads, row.name)
    )
    return Overview(
        snapshot=snapshot,
        rows=tuple(rows),
        counts=_counts([workload for row in rows for workload in row.workloads]),
        modes=Counter(row.mode for row in rows),
        rules=_rules(rows),
    )


def slug_of(name: str) -> str:
    """A name for addresses and files: the namespace's own wherever that is one that Kubernetes allows."""
    return name if _NAME.fullmatch(name) else f"_{sha256(name.encode()).hexdigest()[:16]}"


def _row(namespace: NamespaceState) -> Row:
    workloads = sorted(standings(namespace), key=lambda each: OUTLOOKS.index(outlook(each)))
    counts = _counts(workloads)
    rules = frozenset(rule for workload in workloads for rule in rules_against(workload))
    return Row(namespace, slug_of(namespace.name), tuple(workloads), counts, _step(namespace, counts), rules)


def _counts(workloads: Sequence[Standing]) -> Counts:
    return Counts(Counter(map(outlook, workloads)), sum(workload.pods for workload in workloads))


_CLEAR: Final[dict[Mode, str]] = {
    "audit": "only a record is kept",
    "warn": "nothing to warn about",
    "assist": "nothing would be changed",
    "enforce": "nothing would break",
}


def _step(namespace: NamespaceState, counts: Counts) -> Step:
    to = namespace.next
    if namespace.exempt:
        return Step(None, "done", "exempt from the policy in every mode")
    if to is None:
        return _at_the_end(namespace, counts.of["refused"])
    found = consequences(namespace, to, None)
    said = [
        (len(found.refused), "would break"),
        (len(found.changed), "would be changed"),
        (len(found.warned), "would be warned about"),
    ]
    parts = [f"{counted(count, 'workload')} {what}" for count, what in said if count]
    tone: Tone = "blocked" if found.refused else "some" if parts else "clear"
    return Step(to, tone, ", ".join(parts) or _CLEAR[to])


def _at_the_end(namespace: NamespaceState, refused: int) -> Step:
    if namespace.mode == "enforce" and refused:
        return Step(None, "blocked", f"{counted(refused, 'workload')} would not start again")
    if namespace.source == "pinned":
        return Step(None, "done", "the policy decides on its mode")
    text = "enforced" if namespace.mode == "enforce" else "the policy has no stricter mode for labels"
    return Step(None, "done", text)


def _rules(rows: Iterable[Row]) -> tuple[RuleCount, ...]:
    refused: Counter[str] = Counter()
    found: Counter[str] = Counter()
    places: Counter[str] = Counter()
    for row in rows:
        places.update(row.rules)
        for workload in row.workloads:
            found.update(rules_against(workload))
            if workload.state == "refused" and not workload.exempt:
                refused.update({finding.rule for finding in findings(workload) if finding.outcome == "deny"})
    counts = [RuleCount(rule, refused[rule], found[rule], places[rule]) for rule in found]
    return tuple(sorted(counts, key=lambda count: (-count.refused, -count.workloads, count.rule)))
