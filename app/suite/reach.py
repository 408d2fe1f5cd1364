"""Which rules, injections and exceptions of a policy look at a pod, and why the others do not."""

from dataclasses import fields
from typing import Final

from app.model.context import Context
from app.model.finding import Finding
from app.model.gpu import GpuUse
from app.model.pod import Pod
from app.policy.compiled import BoundInjection, BoundRule
from app.policy.match import Match

_KEYS: Final = {
    "namespaces": "namespaces",
    "not_namespaces": "notNamespaces",
    "pod_labels": "podLabels",
    "resources": "resources",
    "device_classes": "deviceClasses",
    "runtime_classes": "runtimeClasses",
}


def out_of_reach(
    bound: BoundRule | BoundInjection, pod: Pod, use: GpuUse, context: Context, runtime_class: str
) -> str | None:
    """Why a rule or injection does not look at the pod; None if it does. ``runtime_class`` is the one it will have."""
    if isinstance(bound, BoundInjection):
        if not use.gpu:
            return "for GPU pods only"
    elif use.gpu and bound.rule.pods == "other":
        return "looks at pods without GPUs only"
    elif not use.gpu and bound.rule.pods == "gpu" and not (use.unknown_claim and bound.rule.hidden_claims):
        return "looks at GPU pods only"
    return unmatched(bound.match, pod, use, context, runtime_class)


def unmatched(match: Match, pod: Pod, use: GpuUse, context: Context, runtime_class: str) -> str | None:
    """The first condition of a match that does not hold; None if all do."""
    for field in fields(match):
        if field.name not in _KEYS:
            continue
        part = Match(**{field.name: getattr(match, field.name)})
        if not part.everything and not part.selects(pod, use, context, runtime_class):
            return f"match.{_KEYS[field.name]} is {_written(part)}"
    return None


def conditions(match: Match) -> list[str]:
    """The conditions of a match as its document has them: ``namespaces: nb-*``."""
    parts = [(name, Match(**{name: getattr(match, name)})) for name in _KEYS]
    return [f"{_KEYS[name]}: {_written(part)}" for name, part in parts if not part.everything]


def class_after(pod: Pod, changes: list[Finding]) -> str:
    """The runtime class that the pod has after these changes."""
    for finding in changes:
        for operation in finding.operations:
            if operation["path"].endswith("/runtimeClassName"):
                return str(operation.get("value", ""))
    return pod.runtime_class


def _written(part: Match) -> str:
    labels = [f"{key}={value}" for key, globs in part.pod_labels for value in globs.written]
    globs = (part.namespaces, part.not_namespaces, part.resources, part.device_classes, part.runtime_classes)
    return ", ".join([*labels, *(pattern for each in globs for pattern in each.written)])
