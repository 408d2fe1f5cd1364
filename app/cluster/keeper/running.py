"""What runs in each namespace: its GPU workloads, and those that `enforce` would refuse, from the pods alone.

Pods say whose they are; so the keeper need not be allowed to list every kind of workload. `gpugate scan` looks closer.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import Any, Final

from app.admission.judge import judge
from app.model.context import ClusterFacts, Context
from app.model.pod import MalformedPod, Pod
from app.policy.compiled import Policy

Running = dict[str, dict[str, Any]]
"""``{namespace: {"gpuWorkloads": 3, "refused": 1, "examples": [{"kind", "name", "pods", "rules"}]}}``."""

EXAMPLES: Final = 5
"""A warning in a terminal names a few."""

_HASH_LABEL: Final = "pod-template-hash"


class _Namespace:
    """The workloads of one namespace, each a (kind, name)."""

    def __init__(self) -> None:
        self.gpu: set[tuple[str, str]] = set()
        self.refused: Counter[tuple[str, str]] = Counter()
        self.rules: dict[tuple[str, str], set[str]] = {}

    def fact(self) -> dict[str, Any]:
        most = sorted(self.refused.items(), key=lambda item: (-item[1], item[0]))[:EXAMPLES]
        examples = [
            {"kind": owner[0], "name": owner[1], "pods": pods, "rules": sorted(self.rules[owner])}
            for owner, pods in most
        ]
        found = {"gpuWorkloads": len(self.gpu), "refused": len(self.refused)}
        return {**found, "examples": examples} if examples else found


def running(policy: Policy, pods: Iterable[dict[str, Any]], facts: ClusterFacts, today: date) -> Running:
    """The namespaces in which something runs that gpugate has a say in, by name; pods that are ending don't count."""
    found: dict[str, _Namespace] = {}
    for obj in pods:
        metadata = obj["metadata"]
        namespace = metadata["namespace"]
        if metadata.get("deletionTimestamp"):
            continue
        try:
            verdict = judge(policy, Pod.of(obj), Context(namespace, today, facts), "enforce")
        except MalformedPod:
            continue  # the API server took it, so a later version of the API has other types there
        if not verdict.gpu and verdict.allowed:
            continue
        here, owner = found.setdefault(namespace, _Namespace()), owner_of(obj)
        if verdict.gpu:
            here.gpu.add(owner)
        if not verdict.allowed:
            here.refused[owner] += 1
            rules = {f"{each.policy}/{each.rule}" for each in verdict.findings if each.outcome == "deny"}
            here.rules.setdefault(owner, set()).update(rules)
    return {name: found[name].fact() for name in sorted(found)}


def owner_of(pod: dict[str, Any]) -> tuple[str, str]:
    """The kind and name of what made a pod: a Deployment instead of its ReplicaSet; else the pod itself."""
    metadata = pod["metadata"]
    owner = next((each for each in metadata.get("ownerReferences") or () if each.get("controller")), None)
    if owner is None:
        return "Pod", metadata["name"]
    kind, name = str(owner["kind"]), str(owner["name"])
    # A Deployment names its ReplicaSets by itself and a hash, with which it labels their pods.
    suffix = f"-{(metadata.get('labels') or {}).get(_HASH_LABEL)}"
    if kind == "ReplicaSet" and name.endswith(suffix):
        return "Deployment", name.removesuffix(suffix)
    return kind, name
