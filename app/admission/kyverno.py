"""Kyverno's policies over the pods that are judged: their changes and violations as findings like any others.

An Enforce rule refuses where the namespace's mode does, an Audit rule is recorded, or said if its policy has
``emitWarning``: so the weaker of the two counts. An error of a rule counts as its failure where the policy's
failurePolicy is Fail. Kyverno's changes come before gpugate's own, which so have the last word.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, time
from typing import Any, Final, NamedTuple

from app.kyverno.engine import Judging, mutate, validate
from app.kyverno.expressions.interpreter import Scope
from app.kyverno.policy import ClusterPolicy, Rule
from app.kyverno.results import spelled
from app.kyverno.types import Operation as KyvernoOperation
from app.kyverno.types import Request, RuleResult
from app.model.context import Context
from app.model.difference import difference
from app.model.finding import Finding, Outcome
from app.model.patch import Operation
from app.model.pod import Container, Pod
from app.policy.compiled import Policy

_NO_ATTRIBUTES: Final[dict[str, Any]] = {}
_OBJECTS: Final = ("object", "oldObject", "operation")
_NO_LABELS: Final[dict[str, str]] = {}
_SHOWN: Final = 3


class Mutated(NamedTuple):
    """The pod after the changes of Kyverno's policies, the changes, and the rules that could not be evaluated."""

    pod: Pod
    changes: list[Finding]
    errors: list[Finding]


def mutated(policy: Policy, pod: Pod, context: Context) -> Mutated:
    """The pod after the mutating rules, in the order of the policies' names; raises MalformedPod."""
    changes: list[Finding] = []
    errors: list[Finding] = []
    if not any(each.mutating for each in policy.kyverno):
        return Mutated(pod, changes, errors)
    judging = _judging(policy, pod, context)
    first = judging.request.resource
    for each in policy.kyverno:
        if not each.mutating:
            continue
        for result in mutate(each, judging).results:
            if result.status == "error":
                errors.append(_failed_change(each, result, pod))
            elif result.resource is not None:
                before = judging.request.resource
                made = list(difference(before, result.resource))
                judging = judging.of(_replaced(judging.request, result.resource))
                if made:
                    changes.append(_change(each, result, pod, made, changes))
    after = judging.request.resource
    if after is first:
        return Mutated(pod, changes, errors)
    assert after is not None
    return Mutated(_pod(pod, after), changes, errors)


def asked(policy: Policy, pod: Pod, context: Context) -> Iterator[tuple[str, str, RuleResult | None]]:
    """The names of each policy and rule for pods, with its result: None if it is not for this pod."""
    judging = _judging(policy, pod, context)
    final = _judging(policy, mutated(policy, pod, context).pod, context)
    subject = judging.subject
    for each in policy.kyverno:
        changed = mutate(each, judging)
        assert changed.resource is not None
        judging = judging.of(_replaced(judging.request, changed.resource))
        found = {result.rule: result for result in (*changed.results, *validate(each, final))}
        for rule in (*each.mutating, *each.validating):
            if not rule.generated and rule.match.can_select(subject.kind, subject.subresource):
                yield each.name, rule.name, found.get(rule.name)


def violations(policy: Policy, pod: Pod, context: Context, old: Pod | None = None) -> list[Finding]:
    """What the validating rules find in the pod; ``old`` is what it was before an update."""
    judging = _judging(policy, pod, context, old)
    namespace = context.namespace or ""
    return [
        _violation(each, result, pod, namespace)
        for each in policy.kyverno
        for result in validate(each, judging)
        if result.status in ("fail", "error")
    ]


def controller_violations(policy: Policy, obj: dict[str, Any], context: Context) -> list[Finding]:
    """What the rules that are for the controllers of pods (those that Kyverno makes of rules for pods among them) find
    in one; pointers are relative to the object, and nothing is refused for it, so the outcome is a warning at most.
    """
    judging = Judging(
        Request(obj, None, "CREATE", context.namespace or "", "", _attributes(context)),
        policy.kyverno_exceptions,
        _scope(context),
    )
    found = []
    for each in policy.kyverno:
        for result in validate(each, judging):
            if result.status in ("fail", "error"):
                outcome = _outcome(each, _rule(each, result), result, context.namespace or "")
                weaker: Outcome = "warn" if outcome == "deny" else outcome
                found.append(Finding(each.name, result.rule, weaker, result.pointer or "/spec", result.message))
    return found


def _judging(policy: Policy, pod: Pod, context: Context, old: Pod | None = None) -> Judging:
    namespace = context.namespace or ""
    resource = _resource(pod, namespace)
    request = Request(
        resource,
        _resource(old, namespace) if old is not None else None,
        _operation(context, old),
        namespace,
        str((context.request or _NO_ATTRIBUTES).get("subResource") or ""),
        _attributes(context),
    )
    return Judging(request, policy.kyverno_exceptions, _scope(context))


def _scope(context: Context) -> Scope:
    """The time for functions like ``time_now``: where only the day is known, its beginning."""
    if context.now is None and context.today is not None:
        return Scope(datetime.combine(context.today, time(), UTC))
    return Scope(context.now)


def _operation(context: Context, old: Pod | None) -> KyvernoOperation:
    given = (context.request or _NO_ATTRIBUTES).get("operation")
    return "UPDATE" if given == "UPDATE" or old is not None else "CREATE"


def _attributes(context: Context) -> Mapping[str, Any]:
    request = context.request
    if request is None:
        return _NO_ATTRIBUTES
    return {key: value for key, value in request.items() if key not in _OBJECTS}


def _resource(pod: Pod, namespace: str) -> dict[str, Any]:
    """The pod as an object of the API. That of a template has an owner, like all that are made of one."""
    metadata = pod.metadata
    if namespace and "namespace" not in metadata:
        metadata = {**metadata, "namespace": namespace}
    if pod.metadata_pointer != "/metadata" and "ownerReferences" not in metadata:
        metadata = {**metadata, "ownerReferences": [_OWNER_DAEMONSET if pod.daemonset else _OWNER]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod.spec}


_OWNER: Final = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "", "controller": True}
_OWNER_DAEMONSET: Final = {**_OWNER, "kind": "DaemonSet"}


def _replaced(request: Request, resource: dict[str, Any]) -> Request:
    return Request(resource, request.old, request.operation, request.namespace, request.subresource, request.attributes)


def _pod(pod: Pod, resource: dict[str, Any]) -> Pod:
    return Pod(
        resource.get("metadata"),
        resource.get("spec"),
        metadata_pointer=pod.metadata_pointer,
        spec_pointer=pod.spec_pointer,
        daemonset=pod.daemonset,
        scheduled=pod.scheduled,
        places=pod.places,
    )


def _placed(pod: Pod, operations: Iterable[Operation], earlier: list[Finding]) -> tuple[Operation, ...]:
    """The operations on the pod, after those of ``earlier`` changes, as ones on the object that holds it."""
    found: list[Operation] = []
    made = bool(pod.metadata) or any(
        operation["path"] == pod.metadata_pointer for change in earlier for operation in change.operations
    )
    for operation in operations:
        at = _at(pod, operation["path"])
        if at is None:
            continue  # status, or what makes it a Pod: nothing that a template has
        if not made and at.startswith(f"{pod.metadata_pointer}/"):
            found.append({"op": "add", "path": pod.metadata_pointer, "value": {}})
            made = True
        found.append({**operation, "path": at})
    return tuple(found)


def _at(pod: Pod, pointer: str) -> str | None:
    for name, place in (("/spec", pod.spec_pointer), ("/metadata", pod.metadata_pointer)):
        if pointer == name or pointer.startswith(f"{name}/"):
            return place + pointer[len(name) :]
    return None


def _change(
    policy: ClusterPolicy, result: RuleResult, pod: Pod, made: list[Operation], earlier: list[Finding]
) -> Finding:
    """The change that the operations on the pod make, which the message names by its fields."""
    paths = list(dict.fromkeys(operation["path"].removesuffix("/-") for operation in made))
    shown = ", ".join(map(spelled, paths[:_SHOWN])) + (f" and {len(paths) - _SHOWN} more" if paths[_SHOWN:] else "")
    return Finding(
        policy.name,
        result.rule,
        "inject",
        _at(pod, paths[0]) or pod.spec_pointer,
        f"changes {shown}",
        early=True,
        operations=_placed(pod, made, earlier),
    )


def _failed_change(policy: ClusterPolicy, result: RuleResult, pod: Pod) -> Finding:
    outcome: Outcome = "deny" if policy.strict else "audit"
    return Finding(policy.name, result.rule, outcome, pod.spec_pointer, result.message, final=True, early=True)


def _violation(policy: ClusterPolicy, result: RuleResult, pod: Pod, namespace: str) -> Finding:
    pointer = _at(pod, result.pointer) or pod.spec_pointer
    container = _container(pod, pointer)
    return Finding(
        policy.name,
        result.rule,
        _outcome(policy, _rule(policy, result), result, namespace),
        pointer,
        f"{container.label}: {result.message}" if container else result.message,
        container.kind if container else None,
        container.name if container else None,
        container.image if container else None,
    )


def _rule(policy: ClusterPolicy, result: RuleResult) -> Rule:
    return next(rule for rule in policy.rules if rule.name == result.rule)


def _outcome(policy: ClusterPolicy, rule: Rule, result: RuleResult, namespace: str) -> Outcome:
    assert rule.validation is not None
    enforced = rule.validation.action_in(namespace, _NO_LABELS) == "Enforce"
    if enforced and (result.status == "fail" or policy.strict):
        return "deny"
    return "warn" if policy.warns else "audit"


def _container(pod: Pod, pointer: str) -> Container | None:
    return next(_containers_at(pod, pointer), None)


def _containers_at(pod: Pod, pointer: str) -> Iterator[Container]:
    for container in pod.containers:
        if pointer == container.pointer or pointer.startswith(f"{container.pointer}/"):
            yield container
