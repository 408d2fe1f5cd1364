"""What is said when the mode label of a namespace changes."""

from collections.abc import Iterator
from typing import Any, Final

from app.admission.review import Request, answer, bounded
from app.admission.webhook import Answer
from app.model.context import ClusterFacts, NamespaceFact
from app.policy.compiled import MODE_LABEL, Policy

_MOST_NAMED: Final = 10


def review_namespace(policy: Policy, request: Request, facts: ClusterFacts) -> Answer:
    """Answer the creation or update of a namespace, which is always admitted: who may set the label is for RBAC.

    Warned about are a value that means nothing, a label that has no effect, and running workloads of which `enforce`
    would refuse new pods.
    """
    name, before, after = request.name or request.namespace, _label(request.old_object), _label(request.object)
    mode = policy.modes.of(name, after)
    texts: list[str] = []
    if request.kind == "Namespace" and not request.group and before != after:
        enforced = request.operation == "UPDATE" and mode == "enforce" != policy.modes.of(name, before)
        texts = list(_warnings(policy, name, after, enforced=enforced, facts=facts))
    return Answer(answer(request.uid, warnings=bounded(texts)), "allowed", mode, [])


def _label(obj: dict[str, Any] | None) -> str | None:
    metadata = obj.get("metadata") if obj else None
    labels = metadata.get("labels") if type(metadata) is dict else None
    value = labels.get(MODE_LABEL) if type(labels) is dict else None
    return value if type(value) is str else None


def _warnings(policy: Policy, name: str, label: str | None, *, enforced: bool, facts: ClusterFacts) -> Iterator[str]:
    if name in policy.exempt.namespaces:
        if label is not None:
            yield f"{MODE_LABEL} has no effect here: the policy exempts the namespace {name}"
        return
    pinned = policy.modes.namespaces.get(name)
    if pinned is not None:
        if label is not None and label != pinned:
            yield f"{MODE_LABEL} has no effect here: the policy pins the namespace {name} to {pinned}"
        return
    if label is not None and label not in policy.modes.labels:
        choices = ", ".join(policy.modes.labels) or "nothing"
        yield f'{MODE_LABEL}="{label}" means nothing: the policy lets labels choose {choices}'
        yield f"the namespace {name} is in the policy's default mode, {policy.modes.default}"
    if enforced:
        yield from _running(name, facts)


def _running(name: str, facts: ClusterFacts) -> Iterator[str]:
    """The workloads of the namespace of which new pods would be refused."""
    if facts.namespaces is None:
        yield f"enforce: what runs in {name} is not known here; `gpugate modes plan` tells what it would refuse"
        return
    found = facts.namespaces.get(name, NamespaceFact(0, 0))
    if not found.refused:
        return
    workloads = "1 workload" if found.refused == 1 else f"{found.refused} workloads"
    yield f"enforce refuses new pods of {workloads} that run in {name}:"
    named = found.examples[:_MOST_NAMED]
    for each in named:
        pods = "1 pod" if each.pods == 1 else f"{each.pods} pods"
        yield f"{each.kind} {each.name} ({pods}): {', '.join(each.rules)}"
    if found.refused > len(named):
        yield f"and {found.refused - len(named)} more; `gpugate modes plan` tells all"
