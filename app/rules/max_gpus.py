"""max-gpus: a pod asks for no more GPUs than the policy allows.

Reads resources.limits and resources.requests of containers and init containers.
Allowed: per resource, the pod's GPUs up to `perPod`, each container's up to `perContainer`, the pod's number in
`sizes`. A pattern with a trailing * means the sum over the whole devices that it matches; a name without one means
that resource, whether or not it counts devices.

The pod's number is the scheduler's: the larger of all containers and sidecars together, and each init container with
the sidecars that started before it (k8s.io/kubernetes plugin/pkg/admission/limitranger/admission.go podRequests).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from app.model.finding import Result
from app.model.gpu import GpuSet, Names
from app.model.patch import escape
from app.model.pod import Container
from app.model.quantity import MILLI, InvalidQuantity, parse, text
from app.rules.rule import Rule, Subject


@dataclass(frozen=True, slots=True)
class Parameters:
    """Whole numbers by resource name or prefix pattern."""

    perPod: dict[str, int] = field(
        default_factory=dict,
        metadata={
            "description": "The most that a pod may ask for, by resource; a trailing * sums over what it matches."
        },
    )
    perContainer: dict[str, int] = field(
        default_factory=dict, metadata={"description": "The most that one container may ask for."}
    )
    sizes: dict[str, tuple[int, ...]] = field(
        default_factory=dict, metadata={"description": "The only numbers that a pod may ask for, if it asks for any."}
    )

    def __post_init__(self) -> None:
        if not (self.perPod or self.perContainer or self.sizes):
            raise ValueError("says nothing: give perPod, perContainer or sizes")
        numbers = [*self.perPod.values(), *self.perContainer.values(), *sum(self.sizes.values(), ())]
        if any(number < 0 for number in numbers):
            raise ValueError("a number of GPUs cannot be negative")
        if not all(self.sizes.values()):
            raise ValueError("sizes must list at least one number")
        for pattern in (*self.perPod, *self.perContainer, *self.sizes):
            if not pattern or "*" in pattern[:-1]:
                raise ValueError(f'"{pattern}" is no name of a resource (only a trailing * is allowed)')


def check(parameters: Parameters, subject: Subject) -> Iterator[Result]:
    """One result for each number that is exceeded."""
    pointer = f"{subject.pod.spec_pointer}/containers"
    for pattern, most in parameters.perPod.items():
        total = _pod_total(subject, pattern)
        if total > most * MILLI:
            yield Result("violation", pointer, f"the pod asks for {text(total)} {pattern}; at most {most} are allowed")
    for pattern, choices in parameters.sizes.items():
        total = _pod_total(subject, pattern)
        if total and not any(total == choice * MILLI for choice in choices):
            listed = ", ".join(map(str, choices))
            yield Result("violation", pointer, f"the pod asks for {text(total)} {pattern}; allowed are {listed}")
    for pattern, most in parameters.perContainer.items():
        counted = _counter(pattern, subject.gpus)
        for container, _ in subject.use.containers:
            total = counted(container)
            if total > most * MILLI:
                said = f"{container.label}: asks for {text(total)} {pattern}; at most {most} are allowed"
                yield Result("violation", f"{container.pointer}/resources", said, container)


def _pod_total(subject: Subject, pattern: str) -> int:
    counted = _counter(pattern, subject.gpus)
    sidecars = peak = apps = 0
    for container in subject.pod.containers:  # init containers come first, in their order
        amount = counted(container)
        if container.sidecar:
            sidecars += amount
            peak = max(peak, sidecars)
        elif container.kind == "initContainer":
            peak = max(peak, sidecars + amount)
        elif container.kind == "container":
            apps += amount
    return max(peak, sidecars + apps)


def _counter(pattern: str, gpus: GpuSet) -> Callable[[Container], int]:
    """The sum, in thousandths, of a container's GPUs that the pattern means."""
    names = Names([pattern])

    def counts(name: str) -> bool:
        resource = gpus.resource(name)
        return name in names and resource is not None and (resource.whole or not names.prefixes)

    def count(container: Container) -> int:
        asked = {**container.requests, **container.limits}
        return sum(_amount(asked, name) for name in asked if counts(name))

    return count


def _amount(asked: Mapping[str, object], name: str) -> int:
    try:
        return max(0, parse(asked[name]))
    except InvalidQuantity:  # limits-equal-requests says so, as does the API server
        return 0


def resources(parameters: Parameters) -> Iterator[tuple[str, str]]:
    """The names and patterns of all three parameters."""
    for section in ("perPod", "perContainer", "sizes"):
        for pattern in getattr(parameters, section):
            yield f"/{section}/{escape(pattern)}", pattern


RULE = Rule(
    id="max-gpus",
    summary="Pods stay within a number of GPUs",
    why="One pod that takes a whole node's GPUs, or an odd number of them, leaves the rest unusable for others.",
    comply="Ask for a number of GPUs that the policy allows, or split the work over more pods.",
    parameters=Parameters,
    check=check,
    pods="gpu",
    resources=resources,
)
