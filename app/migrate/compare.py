"""What a rule of Kyverno and its counterpart make of the same pods."""

from typing import Any, NamedTuple

from app.admission.judge import judge
from app.kyverno.engine import Judging, mutate, validate
from app.kyverno.policy import ClusterPolicy
from app.kyverno.types import Request
from app.migrate.lessons import ADDS, LESSONS, TITLES, Direction
from app.migrate.probes import Asked, Probe, namespace_of, probes
from app.migrate.row import Piece, Reach
from app.model.context import Context
from app.model.pod import Pod
from app.policy.compiled import Policy
from app.workloads.defaulting import defaulted


class Differences(NamedTuple):
    """``better``: cases in which the original is wrong; ``different``: others."""

    better: tuple[str, ...]
    different: tuple[str, ...]


class _Answer(NamedTuple):
    refused: bool
    spec: dict[str, Any]


def differences(original: ClusterPolicy, policy: Policy, pieces: list[Piece], reach: Reach) -> Differences:
    """Where the two differ, over all probes."""
    adds = bool(original.validating) and all(piece.kind == "inject" for piece in pieces)
    ids = [key for piece in pieces for key in ([piece.id] if piece.kind == "rule" else sorted(piece.entry))]
    better: dict[str, None] = {}
    different: dict[str, None] = {}
    for probe in probes(_asked(tuple(ids), pieces, reach), reach):
        theirs, ours = _theirs(original, probe, reach), _ours(policy, probe, reach)
        direction = _direction(theirs, ours)
        if direction is None:
            continue
        if adds and direction == "refuses":
            better[ADDS] = None
            continue
        lesson = next((LESSONS[key] for each in ids if (key := (each, probe.name, direction)) in LESSONS), None)
        if lesson is not None:
            better[lesson] = None
        else:
            different[f"{TITLES[probe.name]}: {_said(direction)}"] = None
    return Differences(tuple(better), tuple(different))


def _direction(theirs: _Answer, ours: _Answer) -> Direction | None:
    if theirs.refused and not ours.refused:
        return "refuses"
    if ours.refused and not theirs.refused:
        # What the original changed, and gpugate refuses, was changed against what the pod says.
        return "changes" if theirs.spec != ours.spec else "admits"
    return "changes" if not theirs.refused and _placed(theirs.spec) != _placed(ours.spec) else None


def _placed(spec: dict[str, Any]) -> Any:
    """The spec, in which the order of tolerations says nothing."""
    return {**spec, "tolerations": sorted(spec.get("tolerations") or [], key=str)}


def _said(direction: Direction) -> str:
    match direction:
        case "refuses":
            return "refused by the original, let through by gpugate"
        case "admits":
            return "let through by the original, refused by gpugate"
        case _:
            return "changed otherwise by the original than by gpugate"


def _asked(ids: tuple[str, ...], pieces: list[Piece], reach: Reach) -> Asked:
    classes = [piece.entry["with"]["default"] for piece in pieces if piece.id == "runtime-class"]
    amounts = [
        number
        for piece in pieces
        if piece.id == "max-gpus"
        for part in piece.entry["with"].values()
        for number in part.values()
    ]
    injected = [piece.entry for piece in pieces if piece.kind == "inject"]
    return Asked(
        ids,
        min(reach.resources),
        classes[0] if classes else None,
        {key: value for entry in injected for key, value in entry.get("nodeSelector", {}).items()},
        tuple(each for entry in injected for each in entry.get("tolerations", [])),
        amounts[0] if amounts else None,
    )


def _theirs(original: ClusterPolicy, probe: Probe, reach: Reach) -> _Answer:
    """The original, on the pod as the API server would send it."""
    pod = {**probe.pod, "spec": defaulted(probe.pod["spec"])}
    judging = Judging(Request(pod, namespace=namespace_of(reach), namespace_labels={}))
    changed = mutate(original, judging)
    refused = any(result.status in ("fail", "error") for result in (*changed.results, *validate(original, judging)))
    return _Answer(refused, (changed.resource or pod)["spec"])


def _ours(policy: Policy, probe: Probe, reach: Reach) -> _Answer:
    import jsonpatch

    spec = defaulted(probe.pod["spec"])
    verdict = judge(policy, Pod(probe.pod["metadata"], spec), Context(namespace_of(reach)), "enforce")
    after = jsonpatch.apply_patch({**probe.pod, "spec": spec}, list(verdict.patch)) if verdict.allowed else None
    return _Answer(not verdict.allowed, after["spec"] if after else spec)
