"""What a replay found, added up: how many pods by change, and groups of pods with the same to say of them."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from app.admission.recorded import Pod
from app.admission.replay import Change, Difference
from app.policy.compiled import Mode

_MAX_GROUPS: Final = 10_000


class Group(NamedTuple):
    """Pods of one owner, and what one rule does differently to them."""

    change: Change
    namespace: str
    mode: Mode
    owner: str
    rule: str


@dataclass(slots=True)
class Members:
    """How many pods are in a group, the first of them as an example, and from when to when."""

    message: str
    place: str
    name: str
    count: int = 0
    first: datetime | None = None
    last: datetime | None = None

    def add(self, when: datetime | None) -> None:
        """Count a pod."""
        self.count += 1
        if when is not None:
            self.first = min(self.first or when, when)
            self.last = max(self.last or when, when)


@dataclass(slots=True)
class Tally:
    """The sum over all pods, in bounded memory.

    ``changes`` counts pods, so a pod with two rules counts once. ``ungrouped`` counts what came after the last group
    that is kept. ``unanswered`` pods have no recorded answer to compare with, ``modeless`` no recorded mode, and of
    ``unfinished`` the validating call is not recorded.
    """

    pods: int = 0
    same: int = 0
    changes: Counter[Change] = field(default_factory=Counter)
    groups: dict[Group, Members] = field(default_factory=dict)
    ungrouped: Counter[Change] = field(default_factory=Counter)
    unanswered: int = 0
    modeless: int = 0
    unfinished: int = 0
    first: datetime | None = None
    last: datetime | None = None

    def add(self, pod: Pod, mode: Mode, found: list[Difference]) -> None:
        """Count a pod, and what is different about it."""
        self.pods += 1
        self.same += not found
        self.unanswered += pod.answered is None
        self.modeless += pod.mode is None
        self.unfinished += not pod.whole and pod.final is None and not (pod.answered and pod.answered.refused)
        if pod.when is not None:
            self.first = min(self.first or pod.when, pod.when)
            self.last = max(self.last or pod.when, pod.when)
        self.changes.update({difference.change for difference in found})
        for difference in found:
            group = Group(difference.change, pod.sent.namespace, mode, _owner(pod), difference.rule)
            members = self.groups.get(group)
            if members is None:
                if len(self.groups) >= _MAX_GROUPS:
                    self.ungrouped[difference.change] += 1
                    continue
                members = self.groups[group] = Members(difference.message, pod.place, _name(pod))
            members.add(pod.when)

    def sorted(self, change: Change) -> list[tuple[Group, Members]]:
        """The groups of a change, the largest first."""
        found = [(group, members) for group, members in self.groups.items() if group.change == change]
        return sorted(found, key=lambda each: (-each[1].count, each[0]))


def _metadata(pod: Pod) -> dict[str, Any]:
    metadata = (pod.sent.object or {}).get("metadata")
    return metadata if type(metadata) is dict else {}


def _name(pod: Pod) -> str:
    metadata = _metadata(pod)
    return str(metadata.get("name") or pod.sent.name or f"{metadata.get('generateName') or ''}*")


def _owner(pod: Pod) -> str:
    """Who makes such pods: the controller (a ReplicaSet's Deployment), else the prefix of the name, else the name."""
    metadata = _metadata(pod)
    owners, labels = metadata.get("ownerReferences"), metadata.get("labels")
    for owner in owners if type(owners) is list else ():
        if type(owner) is dict and owner.get("controller") is True:
            kind, name = str(owner.get("kind")), str(owner.get("name"))
            made = labels.get("pod-template-hash") if type(labels) is dict else None
            if kind == "ReplicaSet" and type(made) is str and name.endswith(f"-{made}"):
                return f"Deployment/{name.removesuffix(f'-{made}')}"
            return f"{kind}/{name}"
    prefix = metadata.get("generateName")
    return f"Pod/{prefix}*" if prefix else f"Pod/{_name(pod)}"
