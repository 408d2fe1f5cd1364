"""A snapshot as the board shows it: namespaces with their counts, their next step, and the whole added up.

A snapshot holds what asks for GPUs, and what else has a finding: that is what is counted, and called GPU workloads.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal, NamedTuple, get_args

from app.policy.compiled import Mode
from app.report.snapshot import NamespaceState, Snapshot, Workload

Standing = Literal["refused", "warned", "changed", "ready", "exempt"]
"""Where a workload stands towards `enforce`, the worst first."""
STANDINGS: Final[tuple[Standing, ...]] = get_args(Standing)
BAR: Final[tuple[Standing, ...]] = ("ready", "changed", "warned", "refused")
"""What bars show, the good end first."""
LADDER: Final[tuple[Mode, ...]] = get_args(Mode)
_FAULTS: Final = frozenset({"deny", "warn", "audit"})
_CHANGES: Final = frozenset({"repair", "inject"})
_SAYS: Final = _CHANGES | {"deny", "warn"}
"""What the mode `warn` tells users about."""
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def standing(workload: Workload) -> Standing:
    """Where the workload stands."""
    return "exempt" if workload.exempt else workload.state


def rules_against(workload: Workload) -> frozenset[str]:
    """The rules that find fault with the workload, as the policy names them."""
    return frozenset(finding.rule for finding in workload.findings if finding.outcome in _FAULTS)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many workloads stand where; ``pods`` are theirs.

    ``changing`` are those that something is repaired in or injected into, whatever else is wrong with them;
    ``spoken_of`` those that `warn` has something to say about.
    """

    of: Counter[Standing]
    pods: int
    changing: int
    spoken_of: int

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
    workloads: tuple[Workload, ...]
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
    rows = sorted(map(_row, snapshot.namespaces), key=lambda row: (-row.counts.of["refused"], row.name))
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
    workloads = sorted(namespace.workloads, key=lambda each: (STANDINGS.index(standing(each)), each.kind, each.name))
    counts = _counts(workloads)
    rules = frozenset(rule for workload in workloads for rule in rules_against(workload))
    return Row(namespace, slug_of(namespace.name), tuple(workloads), counts, _step(namespace, counts), rules)


def _counts(workloads: Sequence[Workload]) -> Counts:
    outcomes = [{finding.outcome for finding in workload.findings} for workload in workloads if not workload.exempt]
    return Counts(
        of=Counter(map(standing, workloads)),
        pods=sum(workload.pods for workload in workloads),
        changing=sum(not each.isdisjoint(_CHANGES) for each in outcomes),
        spoken_of=sum(not each.isdisjoint(_SAYS) for each in outcomes),
    )


def _step(namespace: NamespaceState, counts: Counts) -> Step:
    """What `next` would do to the workloads that run now, when their pods are made again."""
    refused, changing, spoken_of, to = counts.of["refused"], counts.changing, counts.spoken_of, namespace.next
    if namespace.exempt:
        return Step(None, "done", "exempt from the policy in every mode")
    if to is None:
        if namespace.mode == "enforce":
            text = f"{_in_words(refused)} would not start again" if refused else "enforced"
            return Step(None, "blocked" if refused else "done", text)
        return Step(None, "done", "the policy decides on its mode")
    if to == "enforce":
        if refused:
            return Step(to, "blocked", f"{_in_words(refused)} would break")
        return Step(to, "clear", "nothing would break")
    if to == "assist":
        text = f"{_in_words(changing)} would be changed" if changing else "nothing would be changed"
        return Step(to, "some" if changing else "clear", text)
    if to == "warn":
        text = f"{_in_words(spoken_of)} would be warned about" if spoken_of else "nothing to warn about"
        return Step(to, "some" if spoken_of else "clear", text)
    return Step(to, "clear", f"{_in_words(spoken_of)} would be recorded" if spoken_of else "nothing to record")


def _in_words(count: int) -> str:
    return f"{count:,} workload{'' if count == 1 else 's'}"


def _rules(rows: Iterable[Row]) -> tuple[RuleCount, ...]:
    refused: Counter[str] = Counter()
    found: Counter[str] = Counter()
    places: Counter[str] = Counter()
    for row in rows:
        places.update(row.rules)
        for workload in row.workloads:
            found.update(rules_against(workload))
            if standing(workload) == "refused":
                refused.update({finding.rule for finding in workload.findings if finding.outcome == "deny"})
    counted = [RuleCount(rule, refused[rule], found[rule], places[rule]) for rule in found]
    return tuple(sorted(counted, key=lambda count: (-count.refused, -count.workloads, count.rule)))
