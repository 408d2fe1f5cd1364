"""The kinds that hold pods, as a policy sees them: the core ones, custom resources, and those that it adds."""

from collections.abc import Iterable
from typing import Final

from app.policy.compiled import Policy, WorkloadKind
from app.workloads.custom import CUSTOM_KINDS
from app.workloads.kinds import CORE_KINDS, Kind, Kinds

GroupKind = tuple[str, str]


def kinds_of(policy: Policy) -> Kinds:
    """The kinds that hold pods, by (group, kind)."""
    added = {
        _group_kind(kind): Kind(kind.paths, validated=kind.creates == "workloads") for kind in policy.workload_kinds
    }
    return {**CUSTOM_KINDS, **added, **CORE_KINDS}


def workload_resources(added: Iterable[WorkloadKind]) -> dict[str, GroupKind]:
    """The resources (``pytorchjobs.kubeflow.org``) of all kinds that make pods, with their (group, kind).

    ``added`` are those of a policy; of the others, the plural follows from the kind.
    """
    return {**BUILT_IN, **{kind.resource: _group_kind(kind) for kind in added}}


def advised(policy: Policy) -> dict[str, GroupKind]:
    """The resources whose objects are answered with advice: the core ones, and those that the policy names."""
    known = workload_resources(policy.workload_kinds)
    core = {_resource(kind) for kind in CORE_KINDS if kind != _POD}
    named = {*core, *(kind.resource for kind in policy.workload_kinds), *policy.workloads_refused}
    return {resource: known[resource] for resource in sorted(named)}


def refused_kinds(policy: Policy) -> frozenset[GroupKind]:
    """The kinds whose objects are refused rather than answered with advice."""
    known = workload_resources(policy.workload_kinds)
    return frozenset(known[resource] for resource in policy.workloads_refused)


def _group_kind(kind: WorkloadKind) -> GroupKind:
    return kind.resource.partition(".")[2], kind.kind


def _resource(kind: GroupKind) -> str:
    """As API conventions have it; of the kinds that gpugate knows, none needs another ending."""
    group, name = kind
    return f"{name.lower()}s.{group}" if group else f"{name.lower()}s"


_POD: Final = ("", "Pod")

BUILT_IN: Final[dict[str, GroupKind]] = {_resource(kind): kind for kind in (*CUSTOM_KINDS, *CORE_KINDS) if kind != _POD}
"""The resources of the kinds that gpugate knows."""
