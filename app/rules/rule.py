"""What a rule is."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from app.model.context import Context
from app.model.finding import Result
from app.model.gpu import GpuSet, GpuUse
from app.model.pod import Pod


@dataclass(slots=True)
class Subject:
    """What a rule judges: a pod, how it uses GPUs, what counts as a GPU, and what is known around it.

    ``node_selector`` is the pod's, with what will be injected.
    """

    pod: Pod
    use: GpuUse
    gpus: GpuSet
    context: Context
    node_selector: Mapping[str, str]


Check = Callable[[Any, Subject], Iterable[Result]]
Condition = Callable[[Any, GpuSet], Iterable[str]]
Resources = Callable[[Any], Iterable[tuple[str, str]]]


def no_condition(_parameters: Any, _gpus: GpuSet) -> Iterable[str]:
    """For rules that look at GPU pods only."""
    return ()


def no_resources(_parameters: Any) -> Iterable[tuple[str, str]]:
    """For rules whose parameters name no resources."""
    return ()


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule and what has to be known about it.

    ``parameters`` is a frozen dataclass, what a policy may write under ``with``; a ValueError from it is a load
    error. ``pods`` says which pods it can find fault with: those with GPUs, those without, or every pod;
    ``hidden_claims`` that a pod whose claims hide their device class counts as one with GPUs.
    ``condition`` gives CEL expressions over ``object``, one of which is true for every pod without GPUs that the
    rule can find fault with. ``repairs`` tells whether ``repair: true`` means anything. ``resources`` gives the GPU
    resources that the parameters name, each with its JSON Pointer in them.
    """

    id: str
    summary: str
    why: str
    comply: str
    parameters: type
    check: Check
    pods: Literal["gpu", "other", "every"]
    condition: Condition = no_condition
    hidden_claims: bool = False
    repairs: bool = False
    resources: Resources = no_resources


@dataclass(frozen=True, slots=True)
class NoParameters:
    """The rule takes no parameters."""
