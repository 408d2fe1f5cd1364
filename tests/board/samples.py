"""Snapshots to draw boards of: like those of a cluster that is half-way, always the same."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any, get_args

from app.policy.compiled import Mode
from app.report.snapshot import (
    ClusterId,
    ExceptionInForce,
    NamespaceState,
    PolicyId,
    ScanError,
    Snapshot,
    SnapshotFinding,
    State,
    Workload,
)

_CONTAINER = "/spec/template/spec/containers/0"
PRIVILEGED = SnapshotFinding(
    "gpu-pods",
    "no-privileged",
    "deny",
    "container",
    "trainer",
    f"{_CONTAINER}/securityContext/privileged",
    'container "trainer": privileged is true, which lets it use every GPU of the node; '
    "set securityContext.privileged to false",
    "Why this matters: https://wiki.example.com/gpu#privileged",
)
UNEQUAL = SnapshotFinding(
    "gpu-pods",
    "limits-equal-requests",
    "deny",
    "container",
    "trainer",
    f"{_CONTAINER}/resources/requests/nvidia.com~1gpu",
    'container "trainer": nvidia.com/gpu request 1 is not its limit 2; set both to the number you need',
    None,
)
RUNTIME_CLASS = SnapshotFinding(
    "gpu-pods",
    "runtime-class",
    "deny",
    None,
    None,
    "/spec/template/spec/runtimeClassName",
    'runtimeClassName is "runc", which hands out no GPUs; set it to "nvidia"',
    None,
)
SELECTOR = SnapshotFinding(
    "gpu-pods",
    "gpu-nodes-reserved",
    "warn",
    None,
    None,
    "/spec/template/spec/nodeSelector/accelerator",
    "selects GPU nodes by accelerator=nvidia-gpu but asks for no GPU; remove the selector",
    None,
)
BYPASS = SnapshotFinding(
    "gpu-pods",
    "no-gpu-bypass",
    "warn",
    "initContainer",
    "probe",
    "/spec/template/spec/initContainers/0/env/1/value",
    'init container "probe": NVIDIA_VISIBLE_DEVICES is "all", which hands it GPUs that it does not ask for; '
    "ask for a GPU, or set it to void",
    None,
)
SET_CLASS = SnapshotFinding(
    "gpu-pods", "runtime-class", "repair", None, None, "/spec/template/spec", 'runtimeClassName set to "nvidia"', None
)
TOLERATION = SnapshotFinding(
    "gpu-pods",
    "gpu-nodes",
    "inject",
    None,
    None,
    "/spec/template/spec",
    "toleration added for the GPU nodes' taint nvidia.com/gpu=present:NoSchedule",
    None,
)
PATCH: tuple[dict[str, Any], ...] = (
    {"op": "add", "path": "/spec/template/spec/runtimeClassName", "value": "nvidia"},
    {
        "op": "add",
        "path": "/spec/template/spec/tolerations",
        "value": [{"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"}],
    },
)
_STATES: dict[State, tuple[tuple[SnapshotFinding, ...], tuple[dict[str, Any], ...]]] = {
    "refused": ((PRIVILEGED, UNEQUAL, SET_CLASS, TOLERATION), ()),
    "warned": ((SELECTOR, BYPASS), ()),
    "changed": ((SET_CLASS, TOLERATION), PATCH),
    "ready": ((), ()),
}
_KINDS = {"Deployment": "apps/v1", "Job": "batch/v1", "RayCluster": "ray.io/v1", "StatefulSet": "apps/v1"}
_NAMES = ("llama-serve", "embedder", "whisper-batch", "rerank", "vit-finetune", "sd-turbo", "eval-nightly", "moe-train")


def workload(number: int, state: State, findings: Sequence[SnapshotFinding] | None = None, **changes: Any) -> Workload:
    """A workload in this state, with findings that fit it."""
    kind = tuple(_KINDS)[number % len(_KINDS)]
    fitting, patch = _STATES[state]
    values: dict[str, Any] = {
        "api_version": _KINDS[kind],
        "kind": kind,
        "name": f"{_NAMES[number % len(_NAMES)]}-{number}",
        "template": "/spec/template/spec",
        "pods": 1 + number % 6,
        "gpu": True,
        "exempt": None,
        "state": state,
        "findings": tuple(fitting if findings is None else findings),
        "patch": patch,
    }
    return Workload(**(values | changes))


def namespace(name: str, mode: Mode, counts: tuple[int, int, int, int], **changes: Any) -> NamespaceState:
    """A namespace with that many workloads that are refused, warned, changed, ready."""
    states = [state for state, count in zip(_STATES, counts, strict=True) for _ in range(count)]
    ladder = get_args(Mode)
    values: dict[str, Any] = {
        "name": name,
        "mode": mode,
        "source": "label",
        "label": mode,
        "label_valid": True,
        "next": ladder[ladder.index(mode) + 1] if mode != "enforce" else None,
        "exempt": False,
        "workloads": tuple(workload(number, state) for number, state in enumerate(states)),
        "exceptions": (),
    }
    return NamespaceState(**(values | changes))


def snapshot(namespaces: Sequence[NamespaceState], **changes: Any) -> Snapshot:
    """A snapshot of these namespaces."""
    values: dict[str, Any] = {
        "taken_at": datetime(2026, 12, 2, 4, 10, tzinfo=UTC),
        "cluster": ClusterId("prod-eu-1", "https://k8s.prod-eu-1.example.com:6443"),
        "policies": (PolicyId("gpu-pods", "sha256:8f3a91c2" + "0" * 56),),
        "namespaces": tuple(namespaces),
        "errors": (),
    }
    return Snapshot(**(values | changes))


def rollout() -> Snapshot:
    """A cluster of fourteen namespaces in the middle of a rollout."""
    mixed = namespace("research-vision", "warn", (3, 2, 6, 9))
    spread = (
        *mixed.workloads[:1],
        workload(1, "refused", [RUNTIME_CLASS]),
        *mixed.workloads[2:],
        workload(90, "ready", [], exempt="serviceAccount", name="dcgm-exporter"),
        workload(91, "changed", pods=0),
    )
    mesh = ExceptionInForce(
        "mesh-init", "no-privileged", date(2026, 12, 14), "mesh@example.com", "INC-2041: https://inc.example.com/2041"
    )
    return snapshot(
        [
            namespace("ml-serving", "enforce", (0, 0, 11, 34), source="pinned", next=None),
            namespace("research-nlp", "assist", (0, 0, 14, 22)),
            replace(mixed, workloads=spread, exceptions=(mesh,)),
            namespace("notebooks", "audit", (12, 4, 31, 8), source="default", label=None),
            namespace("batch-eval", "assist", (2, 1, 5, 16)),
            namespace("speech", "enforce", (0, 1, 4, 19)),
            namespace("recsys", "enforce", (0, 0, 0, 27)),
            namespace("team-atlas", "audit", (1, 0, 3, 2), source="default", label="enforced", label_valid=False),
            namespace("team-borealis", "warn", (0, 0, 7, 5)),
            namespace("simulation", "assist", (0, 3, 2, 12)),
            namespace("robotics", "audit", (0, 0, 0, 6), source="default", label=None),
            namespace("genomics", "warn", (5, 0, 9, 4)),
            namespace("sandbox", "disabled", (4, 2, 8, 3)),
            namespace("default", "audit", (0, 0, 0, 0), source="default", label=None),
        ],
        errors=(
            ScanError(
                "namespaces/old-team/rayclusters",
                "the list could not be read: the user may not list rayclusters.ray.io",
            ),
        ),
    )


def large(count: int) -> Snapshot:
    """A snapshot with so many workloads that are refused in one namespace, and as many spread over forty."""
    spread = [namespace(f"team-{number}", "warn", (count // 40, 0, 0, 0)) for number in range(40)]
    return snapshot([namespace("big", "warn", (count, 0, 0, 0)), *spread])
