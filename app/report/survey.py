"""From the judged objects of a cluster to its snapshot.

The objects are let go; what neither asks for GPUs nor has a finding leaves nothing behind.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from typing import Final, get_args

from app.policy.compiled import Mode, Modes, Policy, PolicyException
from app.report.live import Live
from app.report.results import JudgedPod
from app.report.snapshot import (
    ClusterId,
    ExceptionInForce,
    NamespaceState,
    PolicyId,
    ScanError,
    Snapshot,
    SnapshotFinding,
    Source,
    State,
    Workload,
)

_LADDER: Final[tuple[Mode, ...]] = get_args(Mode)


class Survey:
    """A snapshot in the making."""

    def __init__(self, policy: Policy, today: date) -> None:
        self._policy = policy
        self._today = today
        self._namespaces: dict[str, NamespaceState] = {}
        self._workloads: dict[str, list[tuple[str, Workload]]] = {}
        self._pods: dict[str, int] = {}
        self._errors: list[ScanError] = []

    def namespace(self, name: str, label: str | None) -> NamespaceState:
        """Add a namespace with this value of the mode's label."""
        state = namespace_state(self._policy, name, label)
        self._namespaces[name] = state
        return state

    def take(self, uid: str, live: Live) -> None:
        """Add an object."""
        judged = live.judged
        for pod in live.enforced:
            if pod.gpu or pod.findings:
                workload = _workload(judged.api_version, judged.kind, judged.name or "", pod)
                self._workloads.setdefault(judged.namespace, []).append((uid, workload))

    def pod_of(self, uid: str) -> None:
        """Count a pod to the object of this uid."""
        self._pods[uid] = self._pods.get(uid, 0) + 1

    def error(self, where: str, message: str) -> None:
        """Add something that could not be read or judged."""
        self._errors.append(ScanError(where, message))

    def snapshot(self, taken_at: datetime, cluster: ClusterId) -> Snapshot:
        """All of it."""
        return Snapshot(
            taken_at=taken_at.replace(microsecond=0),
            cluster=cluster,
            policies=tuple(PolicyId(*document) for document in self._policy.documents),
            namespaces=tuple(self._finished(self._namespaces[name]) for name in sorted(self._namespaces)),
            errors=tuple(self._errors),
        )

    def _finished(self, state: NamespaceState) -> NamespaceState:
        workloads, counted = [], set()
        for uid, workload in self._workloads.get(state.name, ()):
            pods = 0 if uid in counted else self._pods.get(uid, 0)
            counted.add(uid)
            workloads.append(replace(workload, pods=pods))
        workloads.sort(key=lambda each: (each.kind, each.name, each.template))
        exceptions = tuple(self._exceptions(state.name)) if workloads else ()
        return replace(state, workloads=tuple(workloads), exceptions=exceptions)

    def _exceptions(self, namespace: str) -> Iterator[ExceptionInForce]:
        for exception in self._policy.exceptions:
            if exception.expires >= self._today and _meant(exception, namespace):
                for rule in sorted(exception.rules):
                    yield ExceptionInForce(exception.name, rule, exception.expires, exception.owner, exception.reason)


def namespace_state(policy: Policy, name: str, label: str | None) -> NamespaceState:
    """The mode of a namespace with this value of the mode's label, and where the mode comes from; no workloads yet."""
    modes = policy.modes
    valid = label is None or label in modes.labels
    pinned = name in modes.namespaces
    source: Source = "pinned" if pinned else "label" if label is not None and valid else "default"
    mode = modes.of(name, label)
    return NamespaceState(
        name=name,
        mode=mode,
        source=source,
        label=label,
        label_valid=valid,
        next=None if pinned else neighbour(modes, mode, 1),
        exempt=name in policy.exempt.namespaces,
        workloads=(),
        exceptions=(),
    )


def neighbour(modes: Modes, mode: Mode, step: int) -> Mode | None:
    """The next mode that a label may choose, up the ladder (1) or down (-1); None if there is none."""
    position = _LADDER.index(mode)
    rest = _LADDER[position + 1 :] if step > 0 else _LADDER[:position][::-1]
    return next((each for each in rest if each in modes.labels), None)


def state_of(pod: JudgedPod) -> State:
    """What `enforce`, whose verdict this is, does to the pod."""
    if not pod.allowed:
        return "refused"
    return "changed" if pod.changed else "warned" if pod.warned else "ready"


def _workload(api_version: str, kind: str, name: str, pod: JudgedPod) -> Workload:
    findings = tuple(
        SnapshotFinding(
            each.policy,
            each.rule,
            each.outcome,
            each.container_kind,
            each.container,
            each.pointer,
            each.message,
            each.help,
        )
        for each in (placed.finding for placed in pod.findings)
    )
    return Workload(
        api_version=api_version,
        kind=kind,
        name=name,
        template=pod.template,
        pods=0,
        gpu=pod.gpu,
        exempt=pod.exempt,
        state=state_of(pod),
        findings=findings,
        patch=pod.patch,
    )


def _meant(exception: PolicyException, namespace: str) -> bool:
    match = exception.match
    return (not match.namespaces or namespace in match.namespaces) and namespace not in match.not_namespaces
