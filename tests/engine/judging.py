"""A short way to a decision."""

import copy
from typing import Any

import jsonpatch

from app.engine import Decision, decide
from app.model.context import ClusterFacts, Context, RuntimeClassFact
from app.model.finding import Finding
from app.model.pod import Pod
from app.policy.compiled import Policy
from tests.engine.policies import TODAY

Object = dict[str, Any]


def gpu_pod(*, labels: Object | None = None, annotations: Object | None = None, **spec: Any) -> Object:
    """A pod whose one container asks for a GPU under limits."""
    resources = {"limits": {"nvidia.com/gpu": "1"}}
    container = {"name": "main", "image": "registry.example.com/main:1", "resources": resources}
    metadata = {key: value for key, value in (("labels", labels), ("annotations", annotations)) if value is not None}
    return {"kind": "Pod", "metadata": {"name": "a", **metadata}, "spec": {"containers": [container], **spec}}


def decision(
    policy: Policy, obj: Object, *, facts: ClusterFacts | None = None, repair: bool = True, namespace: str = "team"
) -> Decision:
    context = Context(namespace, TODAY, facts or ClusterFacts())
    return decide(policy, Pod.of(obj), context, repair=repair)


def changed(policy: Policy, obj: Object, *, facts: ClusterFacts | None = None, namespace: str = "team") -> Object:
    """The pod after all changes."""
    changes = decision(policy, obj, facts=facts, namespace=namespace).changes
    operations = [operation for change in changes for operation in change.operations]
    result: Object = jsonpatch.apply_patch(copy.deepcopy(obj), operations)
    return result


def said(findings: list[Finding]) -> list[str]:
    """The findings in short: outcome, rule and message."""
    return [f"{finding.outcome} {finding.rule}: {finding.message}" for finding in findings]


def named(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.outcome, finding.rule) for finding in findings]


def classes(**selectors: dict[str, str]) -> ClusterFacts:
    """Facts in which exactly these runtime classes exist, each with its nodeSelector."""
    return ClusterFacts(runtime_classes={name: RuntimeClassFact(name, each) for name, each in selectors.items()})
