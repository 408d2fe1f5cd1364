"""What a snapshot says of a rollout: how each namespace stands, and what another mode would do to it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import groupby
from typing import Final, NamedTuple, get_args

from app.admission.exceptions import NOTICE
from app.admission.webhook import APPLIES
from app.model.finding import Outcome
from app.model.patch import Operation, unescape
from app.policy.compiled import Mode
from app.report.snapshot import STATES, ExceptionInForce, NamespaceState, State, Workload

LADDER: Final[tuple[Mode, ...]] = get_args(Mode)
"""Every mode, the weakest first."""

Selector = Mapping[str, str]

_SPOKEN: Final[dict[Mode, tuple[Outcome, ...]]] = {
    "disabled": (),
    "audit": (),
    "warn": ("deny", "warn", "repair", "inject"),
    "assist": ("deny", "warn"),
    "enforce": ("warn",),
}
"""What users are warned of in each mode (app/admission/webhook.py)."""


class Standing(NamedTuple):
    """An object with all its pod templates; ``state`` is that of the one that asks for most."""

    kind: str
    name: str
    pods: int
    gpu: bool
    exempt: bool
    state: State
    templates: tuple[Workload, ...]

    @property
    def title(self) -> str:
        """``Deployment web``."""
        return f"{self.kind} {self.name}"

    def said(self, *outcomes: Outcome) -> list[str]:
        """The findings with one of these outcomes: ``gpu-pods/no-privileged: ...``."""
        return [
            f"{finding.policy}/{finding.rule}: {finding.message}"
            for template in self.templates
            for finding in template.findings
            if finding.outcome in outcomes
        ]


class Tally(NamedTuple):
    """How many objects of a namespace ask for GPUs, and what `enforce` would do: of each one the first that is true."""

    gpu: int
    exempt: int
    refused: int
    changed: int
    warned: int
    ready: int


def standings(state: NamespaceState) -> list[Standing]:
    """The objects of a namespace, by kind and name."""

    def identity(each: Workload) -> tuple[str, str, str]:
        return each.kind, each.name, each.api_version

    grouped = groupby(sorted(state.workloads, key=identity), identity)
    return [_standing(kind, name, tuple(templates)) for (kind, name, _), templates in grouped]


def tally(state: NamespaceState) -> Tally:
    """The counts of a namespace."""
    found = standings(state)
    governed = [each for each in found if not each.exempt]
    states = {name: sum(each.state == name for each in governed) for name in STATES}
    return Tally(sum(each.gpu for each in found), sum(each.exempt for each in found), **states)


def ending(state: NamespaceState, today: date) -> list[ExceptionInForce]:
    """The exceptions that end within 14 days, the next first."""
    return sorted((each for each in state.exceptions if each.until - today <= NOTICE), key=lambda each: each.until)


def by_breakage(states: Iterable[NamespaceState]) -> list[NamespaceState]:
    """The namespaces whose label may choose a stricter mode, those first that `enforce` would break, change and warn
    least."""

    def order(state: NamespaceState) -> tuple[int, int, int, int, str]:
        counts = tally(state)
        return counts.refused, counts.changed, counts.warned, counts.gpu, state.name

    return sorted((each for each in states if each.next is not None and not each.exempt), key=order)


@dataclass(frozen=True, slots=True)
class Consequences:
    """What a mode does to the objects of a namespace that the present one does not.

    ``stuck`` are objects that get a node selector which no node answers to: their next pods would wait for ever.
    ``spoken`` are the outcomes that users begin to be warned of.
    """

    refused: list[Standing] = field(default_factory=list)
    stuck: list[tuple[Standing, Selector]] = field(default_factory=list)
    changed: list[Standing] = field(default_factory=list)
    warned: list[Standing] = field(default_factory=list)
    spoken: tuple[Outcome, ...] = ()

    @property
    def breaks(self) -> bool:
        """True if pods that start now would not start any more."""
        return bool(self.refused or self.stuck)


def consequences(state: NamespaceState, target: Mode, nodes: Sequence[Selector] | None) -> Consequences:
    """What the namespace's next pods meet in another mode; ``nodes`` are the labels of each node, None if not known."""
    governed = [each for each in standings(state) if not each.exempt]
    refused = [each for each in governed if each.state == "refused"] if target == "enforce" else []
    applied = target in APPLIES and state.mode not in APPLIES
    changed = [each for each in governed if each not in refused and _changes(each)] if applied else []
    spoken = tuple(each for each in _SPOKEN[target] if each not in _SPOKEN[state.mode])
    warned = [each for each in governed if each not in refused and each.said(*spoken)]
    stuck = _stuck(governed, nodes) if target in APPLIES and nodes is not None else []
    return Consequences(refused, stuck, changed, warned, spoken)


def _standing(kind: str, name: str, templates: tuple[Workload, ...]) -> Standing:
    return Standing(
        kind=kind,
        name=name,
        pods=sum(each.pods for each in templates),
        gpu=any(each.gpu for each in templates),
        exempt=all(each.exempt for each in templates),
        state=min((each.state for each in templates), key=STATES.index),
        templates=templates,
    )


def _changes(standing: Standing) -> bool:
    return bool(standing.said("repair", "inject"))


def _stuck(governed: list[Standing], nodes: Sequence[Selector]) -> list[tuple[Standing, Selector]]:
    found: list[tuple[Standing, Selector]] = []
    for standing in governed:
        for template in standing.templates:
            injected = dict(injected_selector(template.patch))
            if injected and not any(injected.items() <= dict(labels).items() for labels in nodes):
                found.append((standing, injected))
                break
    return found


def injected_selector(patch: Iterable[Operation]) -> Iterator[tuple[str, str]]:
    """The labels of nodes that the operations of a patch add to a pod's node selector."""
    for operation in patch:
        parent, _, last = operation["path"].rpartition("/")
        if last == "nodeSelector":
            yield from operation["value"].items()
        elif parent.endswith("/nodeSelector"):
            yield unescape(last), operation["value"]
