"""A policy ready for use: frozen, no I/O, nothing of pydantic left."""

from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from app.inject.injection import Injection
from app.model.finding import Action
from app.model.gpu import GpuSet
from app.model.pod import Pod
from app.policy.glob import Globs
from app.policy.match import Match
from app.rules.rule import Rule

if TYPE_CHECKING:  # most policies have none of Kyverno's documents, whose engine takes time to import
    from app.kyverno.exceptions import PolicyException as KyvernoException
    from app.kyverno.policy import ClusterPolicy

Mode = Literal["disabled", "audit", "warn", "assist", "enforce"]
MODE_LABEL: Final = "gpugate.dev/mode"
"""The label of a namespace that chooses its mode."""
Exemption = Literal["namespace", "serviceAccount", "pod"]


class DocumentId(NamedTuple):
    """Which document a policy was made of; ``digest`` is ``sha256:...`` of its content, however it was written."""

    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class BoundRule:
    """A rule as the policy asks for it; ``name`` is what findings carry."""

    policy: str
    name: str
    rule: Rule
    parameters: Any
    action: Action
    repair: bool
    match: Match
    help: str | None


@dataclass(frozen=True, slots=True)
class BoundInjection:
    """An injection and the GPU pods that it is for."""

    policy: str
    name: str
    injection: Injection
    match: Match


@dataclass(frozen=True, slots=True)
class PolicyException:
    """Violations that are let through until the end of the day ``expires``."""

    policy: str
    name: str
    rules: frozenset[str]
    match: Match
    containers: Globs
    images: Globs
    owner: str
    reason: str
    expires: date


@dataclass(frozen=True, slots=True)
class Modes:
    """Which namespace is in which mode; ``labels`` are the values that a namespace's label may choose."""

    default: Mode = "audit"
    labels: tuple[Mode, ...] = ("audit", "warn", "assist", "enforce")
    namespaces: dict[str, Mode] = field(default_factory=dict)

    def of(self, namespace: str, label: str | None = None) -> Mode:
        """The mode of a namespace with this label (``gpugate.dev/mode``): pinned, else the label, else the default."""
        pinned = self.namespaces.get(namespace)
        if pinned is not None:
            return pinned
        return next((mode for mode in self.labels if mode == label), self.default)


@dataclass(frozen=True, slots=True)
class ExemptPod:
    """Pods in this namespace with all of these labels."""

    namespace: str
    labels: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Exempt:
    """What is admitted untouched in every mode."""

    namespaces: frozenset[str] = frozenset()
    service_accounts: frozenset[tuple[str, str]] = frozenset()
    pods: tuple[ExemptPod, ...] = ()

    def reason(self, namespace: str, pod: Pod) -> Exemption | None:
        """Why the pod is exempt; ``namespace`` is the request's, not what the object says."""
        if namespace in self.namespaces:
            return "namespace"
        if self.service_accounts and (namespace, pod.service_account) in self.service_accounts:
            return "serviceAccount"
        for exempt in self.pods:
            if exempt.namespace == namespace and all(pod.labels.get(key) == value for key, value in exempt.labels):
                return "pod"
        return None


@dataclass(frozen=True, slots=True)
class WorkloadKind:
    """A kind with pod templates that the policy adds: plural resource with its group, and where the pod specs are."""

    resource: str
    kind: str
    paths: tuple[str, ...]
    creates: Literal["pods", "workloads"]


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that the documents say, added up.

    ``digest`` stands for all of it. ``matches_runtime_class`` tells that the class a pod gets decides on what else
    applies to it; ``repairing`` are the rules that repair, ``repeats_repairs`` that one of them stands there twice;
    ``selecting`` are the injections as far as a pod can contradict them. ``kyverno`` are Kyverno's policies, in the
    order in which they change pods.
    """

    documents: tuple[DocumentId, ...]
    digest: str
    gpus: GpuSet
    modes: Modes
    exempt: Exempt
    rules: tuple[BoundRule, ...]
    injections: tuple[BoundInjection, ...]
    exceptions: tuple[PolicyException, ...]
    workload_kinds: tuple[WorkloadKind, ...]
    workloads_refused: frozenset[str]
    kyverno: "tuple[ClusterPolicy, ...]" = ()
    kyverno_exceptions: "tuple[KyvernoException, ...]" = ()
    matches_runtime_class: bool = field(init=False)
    repairing: tuple[BoundRule, ...] = field(init=False)
    repeats_repairs: bool = field(init=False)
    selecting: tuple[BoundInjection, ...] = field(init=False)

    @property
    def names(self) -> list[str]:
        """The names that findings carry: of rules, injections, and rules of Kyverno's policies."""
        kyverno = (rule.name for policy in self.kyverno for rule in policy.rules if not rule.generated)
        return [*(bound.name for bound in self.rules), *(bound.name for bound in self.injections), *kyverno]

    def __post_init__(self) -> None:
        matches = [*(rule.match for rule in self.rules), *(injection.match for injection in self.injections)]
        object.__setattr__(self, "matches_runtime_class", any(match.runtime_classes for match in matches))
        selecting = [replace(bound, injection=bound.injection.selector_only()) for bound in self.injections]
        object.__setattr__(self, "selecting", tuple(bound for bound in selecting if bound.injection.node_selector))
        object.__setattr__(self, "repairing", tuple(bound for bound in self.rules if bound.rule.repairs))
        object.__setattr__(
            self, "repeats_repairs", len(self.repairing) != len({each.rule.id for each in self.repairing})
        )
