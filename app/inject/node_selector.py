"""nodeSelector: GPU pods select GPU nodes.

Adds each key that neither spec.nodeSelector nor required node affinity speaks of. The same key with another value is
a conflict: a pod cannot run on a node that has both, and nobody but its author knows which one is meant.

Left alone: pods of DaemonSets (they belong on every node), pods with nodeName, and pods whose node a queue chooses
when it ungates them; the API server refuses an ungating update that contradicts an injected selector
(k8s.io/kubernetes pkg/apis/core/validation/validation.go ValidatePodUpdate, v1.37.2).
"""

from collections.abc import Iterator
from typing import Any, Final, Literal

from app.inject.draft import Change, Draft, Injected
from app.model.finding import Result
from app.model.pod import Pod

QUEUE_LABELS: Final = ("kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/managed", "kai.scheduler/queue")
QUEUE_SCHEDULERS: Final = ("volcano",)


def inject(
    selector: tuple[tuple[str, str], ...], on_conflict: Literal["refuse", "keep"], draft: Draft
) -> Iterator[Injected]:
    """One change for each missing key, one violation for each that contradicts the pod's (none with ``keep``)."""
    pod = draft.pod
    if not selector or placed_by_others(pod):
        return
    for key, value in selector:
        present = draft.node_selector.get(key)
        if present is None and not _in_affinity(pod, key):
            pointer = f"{pod.spec_pointer}/nodeSelector"
            said = f"nodeSelector {key}={value} added"
            yield Change(pointer, said, [draft.add_selector(key, value)])
            continue
        conflict = _conflict(pod, key, value) if present is None else present if present != value else None
        if conflict is not None and on_conflict == "refuse":
            where = "nodeSelector" if present is not None else "required node affinity"
            said = f"{where} {key}={conflict} contradicts {key}={value}, which GPU pods get here; remove it or use it"
            yield Result("violation", _pointer(pod, present is not None), said, final=True)


def placed_by_others(pod: Pod) -> bool:
    """True if something else than the pod's author and the scheduler decides on its node."""
    return (
        pod.daemonset
        or bool(pod.node_name)
        or pod.scheduler in QUEUE_SCHEDULERS
        or not pod.labels.keys().isdisjoint(QUEUE_LABELS)
        or ("schedulingGates" in pod.spec and bool(pod.scheduling_gates()))
    )


def _pointer(pod: Pod, in_selector: bool) -> str:
    return f"{pod.spec_pointer}/nodeSelector" if in_selector else f"{pod.spec_pointer}/affinity/nodeAffinity"


def _expressions(pod: Pod, key: str) -> Iterator[list[dict[str, Any]]]:
    """For each term of required node affinity, its expressions on the label."""
    for term in pod.required_node_terms():
        listed = term.get("matchExpressions") or []
        yield [expression for expression in listed if expression.get("key") == key]


def _in_affinity(pod: Pod, key: str) -> bool:
    return "affinity" in pod.spec and any(_expressions(pod, key))


def _conflict(pod: Pod, key: str, value: str) -> str | None:
    """What required affinity asks of the label where no term of it admits the value; else None."""
    refusals = []
    for expressions in _expressions(pod, key):
        refused = next((text for text in (_refuses(each, value) for each in expressions) if text), None)
        if refused is None:
            return None
        refusals.append(refused)
    return " or ".join(refusals) or None


def _refuses(expression: dict[str, Any], value: str) -> str | None:
    operator, values = expression.get("operator"), expression.get("values") or []
    if operator == "In" and value not in values:
        return "|".join(map(str, values))
    if operator == "DoesNotExist" or (operator == "NotIn" and value in values):
        return f"{operator} {'|'.join(map(str, values))}".strip()
    return None
