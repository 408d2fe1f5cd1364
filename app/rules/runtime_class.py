"""runtime-class: a GPU pod uses one of the runtime classes that give it its GPUs.

Reads spec.runtimeClassName. Allowed: a name in `allowed` (the default alone, if it is left out).

Only for GPUs whose preset uses a runtime class, and not for pods that get their GPUs by DRA only (CDI needs none).
The default is set unless it is known to belong to other GPUs than the pod's: nobody wants `nvidia` on a Kata pod.
The API server refuses a pod whose class does not exist, or whose nodeSelector contradicts the class's own:
k8s.io/kubernetes plugin/pkg/admission/runtimeclass/admission.go (v1.37.2). So the class is left out, with a
warning, where the cluster facts say that it would be refused. An empty text is no way to name none: the plugin, which
runs before any webhook, looks for a class of that name and fails.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from app.model.finding import Repair, Result
from app.model.patch import add
from app.model.words import quoted
from app.rules.rule import Rule, Subject

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Parameters:
    """``default`` is set where a pod names no class; ``allowed`` lists what a pod may name."""

    default: str = field(metadata={"description": "The class that repair sets where a pod names none."})
    allowed: tuple[str, ...] = field(
        default=(), metadata={"description": "The classes that a pod may name; default: the default alone."}
    )

    def __post_init__(self) -> None:
        for name in (self.default, *self.allowed):
            if not _NAME.fullmatch(name):
                raise ValueError(f'"{name}" is no name of a runtime class')
        if self.allowed and self.default not in self.allowed:
            raise ValueError(f'default "{self.default}" is not among allowed: {", ".join(self.allowed)}')


def check(parameters: Parameters, subject: Subject) -> Iterator[Result]:
    """At most one result."""
    pod = subject.pod
    if not subject.use.runtime_classes:
        return
    name, allowed = pod.runtime_class, parameters.allowed or (parameters.default,)
    if name in allowed:
        return
    pointer = f"{pod.spec_pointer}/runtimeClassName"
    wanted = '"' + '" or "'.join(allowed) + '"'
    if name:
        said = f"runtimeClassName is {quoted(name)}, which is not for GPU pods here; set it to {wanted}"
        yield Result("violation", pointer, said)
        return
    if pod.spec.get("runtimeClassName") == "":
        said = f"runtimeClassName is empty, which the API server refuses; set it to {wanted} or leave it out"
        yield Result("violation", pointer, said, final=True)
        return
    default = parameters.default
    problem = _unusable(default, subject)
    if problem:
        yield Result("warning", pointer, f'runtimeClassName "{default}" was left out: {problem}')
        return
    repair = None
    if default in subject.use.runtime_classes or default not in subject.gpus.runtime_classes:
        repair = Repair(f'runtimeClassName set to "{default}"', [add(pointer, default)])
    said = f"runtimeClassName is missing from a GPU pod; set it to {wanted}"
    yield Result("violation", pointer, said, repair=repair)


def _unusable(name: str, subject: Subject) -> str | None:
    """Why the API server would refuse the pod with this class; None if it would not, or nobody knows."""
    facts = subject.context.facts
    if facts.runtime_classes is None:
        return None
    fact = facts.runtime_classes.get(name)
    if fact is None:
        return f'the cluster has no RuntimeClass "{name}"' if facts.complete else None
    selector = subject.node_selector
    for key, value in fact.node_selector.items():
        if key in selector and selector[key] != value:
            return f"its nodeSelector {key}={value} contradicts the pod's {key}={selector[key]}"
    return None


RULE = Rule(
    id="runtime-class",
    summary="GPU pods use an accepted runtime class",
    why=(
        "Where GPUs reach containers through a runtime handler, a pod without the class starts and finds no GPU; "
        "another class (a sandbox, a legacy hook) changes how GPUs are isolated."
    ),
    comply="Set spec.runtimeClassName to one of the accepted classes, or leave it out where gpugate sets it.",
    parameters=Parameters,
    check=check,
    pods="gpu",
    repairs=True,
)
