"""gpu-nodes-reserved: a pod without GPUs does not aim at GPU nodes.

Reads spec.tolerations, spec.nodeSelector, required node affinity, spec.nodeName.
Allowed: no toleration that names a GPU taint's key (one that tolerates everything names none), no selector on a GPU
node label, no node name but one that the scheduler chose. Pods of DaemonSets are left alone: they belong on every node.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from app.model import cel
from app.model.finding import Result
from app.model.gpu import GpuSet, Names
from app.model.patch import escape
from app.model.pod import Pod
from app.model.words import quoted
from app.rules.rule import Rule, Subject

_KEY = re.compile(r"([a-z0-9][-a-z0-9.]*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True)
class Parameters:
    """``nodeLabels`` are labels of GPU nodes (``key``, or ``key=value``), ``taintKeys`` the keys of their taints."""

    nodeLabels: tuple[str, ...] = field(default=(), metadata={"description": "Labels of GPU nodes: key, or key=value."})
    taintKeys: tuple[str, ...] = field(default=(), metadata={"description": "Keys of the taints of GPU nodes."})

    def __post_init__(self) -> None:
        if not (self.nodeLabels or self.taintKeys):
            raise ValueError("says nothing: give nodeLabels or taintKeys")
        for label in self.nodeLabels:
            if not _KEY.fullmatch(label.partition("=")[0]):
                raise ValueError(f'nodeLabels: "{label}" is neither a label key nor key=value')
        for key in self.taintKeys:
            if not _KEY.fullmatch(key):
                raise ValueError(f'taintKeys: "{key}" is not a taint key')


def check(parameters: Parameters, subject: Subject) -> Iterator[Result]:
    """One result for each way in which the pod aims at GPU nodes."""
    pod, use = subject.pod, subject.use
    if use.gpu or use.unknown_claim or pod.daemonset:
        return
    labels: dict[str, set[str]] = {}
    for label in parameters.nodeLabels:
        name, _, wanted = label.partition("=")
        labels.setdefault(name, set()).add(wanted)
    if pod.node_name and not pod.scheduled:
        said = f"nodeName {quoted(pod.node_name)} places a pod without GPUs past the scheduler; leave nodeName out"
        yield Result("violation", f"{pod.spec_pointer}/nodeName", said)
    for index, toleration in enumerate(pod.tolerations()):
        if toleration.get("key") in parameters.taintKeys:
            said = f"tolerates the GPU taint {toleration['key']} but asks for no GPU; remove the toleration"
            yield Result("violation", f"{pod.spec_pointer}/tolerations/{index}", said)
    for key, value, pointer in _selections(pod):
        if key in labels and not labels[key].isdisjoint(("", value)):
            said = f"selects GPU nodes by {key}={value} but asks for no GPU; remove the selector"
            yield Result("violation", pointer, said)


def _selections(pod: Pod) -> Iterator[tuple[str, str, str]]:
    """The (label key, value, pointer) that the pod's selector and required affinity ask of a node."""
    for key, value in pod.node_selector().items():
        yield key, value, f"{pod.spec_pointer}/nodeSelector/{escape(key)}"
    pointer = f"{pod.spec_pointer}/affinity/nodeAffinity"
    for term in pod.required_node_terms():
        for expression in term.get("matchExpressions") or ():
            if expression.get("operator") == "In":
                for value in expression.get("values") or ():
                    yield expression.get("key", ""), value, pointer
            elif expression.get("operator") in ("Exists", "Gt", "Lt"):
                yield expression.get("key", ""), "*", pointer


def condition(parameters: Parameters, _gpus: GpuSet) -> Iterator[str]:
    """The pods without GPUs that aim at a node in any of these ways.

    The node's name only on creation: it is the scheduler that sets it later, and no update of a pod can.
    """
    yield cel.all_of(cel.present("spec.nodeName"), 'request.operation == "CREATE"')
    if parameters.taintKeys:
        key = cel.named("t.key", Names(parameters.taintKeys))
        yield f"has(object.spec.tolerations) && object.spec.tolerations.exists(t, {cel.all_of('has(t.key)', key)})"
    labels = Names(label.partition("=")[0] for label in parameters.nodeLabels)
    if labels:
        yield cel.has_key("spec.nodeSelector", labels)
        required = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
        term = f"has(t.matchExpressions) && t.matchExpressions.exists(e, {cel.named('e.key', labels)})"
        yield cel.all_of(cel.present(required), f"object.{required}.nodeSelectorTerms.exists(t, {term})")


RULE = Rule(
    id="gpu-nodes-reserved",
    summary="Pods without GPUs stay off GPU nodes",
    why=(
        "A pod without GPUs on a GPU node takes the CPU and memory that GPU pods need, and keeps the node from "
        "scaling down."
    ),
    comply="Remove the toleration, selector or node name that leads to GPU nodes, or ask for a GPU.",
    parameters=Parameters,
    check=check,
    pods="other",
    condition=condition,
)
