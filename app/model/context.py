"""What is known beside the pod: the cluster, the request, the time. None always means unknown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class RuntimeClassFact:
    """A RuntimeClass that exists in the cluster, with the scheduling that the API server merges into its pods."""

    name: str
    node_selector: dict[str, str] = field(default_factory=dict)
    tolerations: tuple[dict[str, Any], ...] = ()


class RefusedWorkload(NamedTuple):
    """A running workload whose pods `enforce` would refuse: what made them, how many, for which ``policy/rule``."""

    kind: str
    name: str
    pods: int
    rules: tuple[str, ...]


class NamespaceFact(NamedTuple):
    """What runs in a namespace: how many GPU workloads, and how many workloads `enforce` would refuse.

    ``examples`` are some of those refused, the ones with the most pods first.
    """

    gpu_workloads: int
    refused: int
    examples: tuple[RefusedWorkload, ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """The cluster as last seen: RuntimeClasses by name, and the device classes of claim templates.

    ``claims`` maps (namespace, name of a ResourceClaimTemplate) to the device classes that it asks for. Where
    ``complete`` is false, the cluster may have RuntimeClasses that are not listed. ``namespaces`` holds those in which
    something runs that gpugate has a say in; None: nobody looked.
    """

    runtime_classes: dict[str, RuntimeClassFact] | None = None
    claims: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    complete: bool = True
    namespaces: dict[str, NamespaceFact] | None = None


UNKNOWN_CLUSTER = ClusterFacts()


class Context(NamedTuple):
    """Where and when a pod is judged.

    ``template`` is true where the pod is still a template that the API server validates on its own (core
    workloads, and kinds that create them): there a request without a limit is refused before any pod exists.
    ``now`` and ``request`` (the fields of an AdmissionReview's request) are for Kyverno's policies.
    """

    namespace: str | None = None
    today: date | None = None
    facts: ClusterFacts = UNKNOWN_CLUSTER
    template: bool = False
    now: datetime | None = None
    request: Mapping[str, Any] | None = None
