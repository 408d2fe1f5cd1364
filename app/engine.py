"""decide: a policy's judgement of one pod. Pure: no modes, no I/O, no clock, no globals.

Webhook, `check` and every other command call this one function, so that they cannot disagree.
"""

from collections.abc import Iterator
from typing import NamedTuple

from app.inject.draft import Change, Draft
from app.model.context import Context
from app.model.finding import Finding, Outcome, Result
from app.model.gpu import GpuUse, gpu_use
from app.model.patch import added
from app.model.pod import Pod
from app.policy.compiled import BoundInjection, BoundRule, Policy
from app.rules.rule import Subject


class Decision(NamedTuple):
    """What the policy says of a pod.

    ``findings`` are violations (outcome: the rule's action), warnings and notes; ``changes`` are repairs and
    injections with their operations, which apply in their order. Without ``repair`` a violation that could be
    repaired is among the findings, and the injections among the changes are what the pod lacks.
    """

    use: GpuUse
    findings: list[Finding]
    changes: list[Finding]


def decide(policy: Policy, pod: Pod, context: Context, *, repair: bool = True, inject: bool = True) -> Decision:
    """Judge the pod: as it would be after repairs and injections, or (``repair=False``) as it is.

    ``inject=False`` is for a pod that nothing is injected into any more: an injection that contradicts it is nothing
    to speak of.
    Raises MalformedPod for a pod that the API server could not read.
    """
    use = gpu_use(pod, policy.gpus, context)
    runtime_class = pod.runtime_class
    injections = policy.injections if inject else ()
    draft, conflicts, injected = _inject(policy, injections, pod, use, context, runtime_class)
    findings, repairs, given = _judge(policy, draft, runtime_class, repair=repair)
    if given and policy.matches_runtime_class:
        # What is matched by class depends on the class that the pod gets; and that on what is injected.
        again = _inject(policy, injections, pod, use, context, given)
        judged = _judge(policy, again[0], given, repair=repair)
        if judged[2] is None:
            # What comes with the class rules the class out. So it is left out, and the pod stays without one.
            findings, repairs, _ = _judge(policy, again[0], runtime_class, repair=repair)
        elif repair:
            findings, repairs, _ = judged
            _, conflicts, injected = again
    if repairs and policy.repeats_repairs:
        # What one entry of a rule repairs, another entry of it must be judged by, as the validating call will.
        rest = decide(policy, _mended(pod, repairs), context)
        return Decision(use, rest.findings, repairs + rest.changes)
    return Decision(use, conflicts + findings, repairs + injected)


def _mended(pod: Pod, repairs: list[Finding]) -> Pod:
    """The pod after its repairs."""
    operations = [operation for change in repairs for operation in change.operations]
    spec = added(pod.spec, pod.spec_pointer, operations)
    return Pod(
        pod.metadata,
        spec,
        metadata_pointer=pod.metadata_pointer,
        spec_pointer=pod.spec_pointer,
        daemonset=pod.daemonset,
    )


def _judge(
    policy: Policy, draft: Draft, runtime_class: str, *, repair: bool
) -> tuple[list[Finding], list[Finding], str | None]:
    """Findings, repairs, and the runtime class that a repair gives (or, without ``repair``, would give) the pod."""
    use = draft.use
    subject = Subject(draft.pod, use, draft.gpus, draft.context, draft.node_selector)
    gpu, hidden_claims = use.gpu, use.unknown_claim is not None
    findings: list[Finding] = []
    repairs: list[Finding] = []
    given = None
    for bound in policy.rules:
        rule = bound.rule
        applies = rule.pods != "other" if gpu else rule.pods != "gpu" or (hidden_claims and rule.hidden_claims)
        if not applies:
            continue
        if not (bound.match.everything or bound.match.selects(draft.pod, use, draft.context, runtime_class)):
            continue
        for result in rule.check(bound.parameters, subject):
            mended = result.repair if bound.repair else None
            if mended is not None and result.pointer.endswith("/runtimeClassName"):
                given = mended.operations[0]["value"]
            if mended is not None and repair:
                repairs.append(_repair(bound, result))
            else:
                findings.append(_finding(bound, result))
    return findings, repairs, given


def _inject(
    policy: Policy,
    injections: tuple[BoundInjection, ...],
    pod: Pod,
    use: GpuUse,
    context: Context,
    runtime_class: str,
) -> tuple[Draft, list[Finding], list[Finding]]:
    """The draft of the pod with all injections, the conflicts, and the changes."""
    draft = Draft(pod, use, policy.gpus, context)
    conflicts: list[Finding] = []
    changes: list[Finding] = []
    if use.gpu:
        for bound in injections:
            if bound.match.everything or bound.match.selects(pod, use, context, runtime_class):
                for found in _injected(bound, draft):
                    (changes if found.outcome == "inject" else conflicts).append(found)
    return draft, conflicts, changes


def _injected(bound: BoundInjection, draft: Draft) -> Iterator[Finding]:
    for injected in bound.injection.apply(draft):
        container = injected.container
        changed = isinstance(injected, Change)
        yield Finding(
            policy=bound.policy,
            rule=bound.name,
            outcome="inject" if changed else "deny",
            pointer=injected.pointer,
            message=injected.message,
            container_kind=container.kind if container else None,
            container=container.name if container else None,
            final=not changed,
            early=changed,
            operations=tuple(injected.operations) if isinstance(injected, Change) else (),
        )


def _finding(bound: BoundRule, result: Result) -> Finding:
    container = result.container
    outcome: Outcome = bound.action if result.kind == "violation" else "warn" if result.kind == "warning" else "note"
    return Finding(
        policy=bound.policy,
        rule=bound.name,
        outcome=outcome,
        pointer=result.pointer,
        message=result.message,
        container_kind=container.kind if container else None,
        container=container.name if container else None,
        image=container.image if container else None,
        help=bound.help if result.kind == "violation" else None,
        final=result.final,
        early=result.kind == "warning",
    )


def _repair(bound: BoundRule, result: Result) -> Finding:
    assert result.repair is not None
    return _finding(bound, result)._replace(
        outcome="repair",
        message=result.repair.message,
        help=None,
        early=True,
        operations=tuple(result.repair.operations),
    )
