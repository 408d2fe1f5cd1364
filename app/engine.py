"""decide: a policy's judgement of one pod. Pure: no modes, no I/O, no clock, no globals.

Webhook, `check` and every other command call this one function, so that they cannot disagree.
"""

from collections.abc import Sequence
from typing import NamedTuple

from app.inject.draft import Change, Draft, Injected
from app.model.context import Context
from app.model.finding import Finding, Outcome, Result
from app.model.gpu import GpuSet, GpuUse, gpu_use
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


def decide(
    policy: Policy,
    pod: Pod,
    context: Context,
    *,
    repair: bool = True,
    rules: Sequence[BoundRule] | None = None,
    injections: Sequence[BoundInjection] | None = None,
) -> Decision:
    """Judge the pod: as it would be after repairs and injections, or (``repair=False``) as it is.

    ``rules`` and ``injections`` narrow the policy to a part of it. Raises MalformedPod for a pod that the API server
    could not read.
    """
    rules = policy.rules if rules is None else rules
    injections = policy.injections if injections is None else injections
    use = gpu_use(pod, policy.gpus, context)
    runtime_class = pod.runtime_class
    draft, conflicts, injected = _inject(injections, pod, use, policy.gpus, context, runtime_class)
    findings, repairs, given = _judge(rules, draft, runtime_class, repair=repair)
    if given and policy.matches_runtime_class:
        # What is matched by class depends on the class that the pod gets; and that on what is injected.
        again = _inject(injections, pod, use, policy.gpus, context, given)
        judged = _judge(rules, again[0], given, repair=repair)
        if judged[2] is None:
            # What comes with the class rules the class out. So it is left out, and the pod stays without one.
            findings, repairs, _ = _judge(rules, again[0], runtime_class, repair=repair)
        elif repair:
            findings, repairs, _ = judged
            _, conflicts, injected = again
    if repairs and policy.repeats_repairs:
        # What one entry of a rule repairs, another entry of it must be judged by, as the validating call will.
        rest = decide(policy, _mended(pod, repairs), context, rules=rules, injections=injections)
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
    rules: Sequence[BoundRule], draft: Draft, runtime_class: str, *, repair: bool
) -> tuple[list[Finding], list[Finding], str | None]:
    """Findings, repairs, and the runtime class that a repair gives (or, without ``repair``, would give) the pod."""
    use = draft.use
    subject = Subject(draft.pod, use, draft.gpus, draft.context, draft.node_selector)
    gpu, hidden_claims = use.gpu, use.unknown_claim is not None
    findings: list[Finding] = []
    repairs: list[Finding] = []
    given = None
    for bound in rules:
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
    injections: Sequence[BoundInjection], pod: Pod, use: GpuUse, gpus: GpuSet, context: Context, runtime_class: str
) -> tuple[Draft, list[Finding], list[Finding]]:
    """The draft of the pod with all injections, the conflicts, and the changes."""
    draft = Draft(pod, use, gpus, context)
    conflicts: list[Finding] = []
    changes: list[Finding] = []
    if use.gpu:
        for bound in injections:
            if bound.match.everything or bound.match.selects(pod, use, context, runtime_class):
                for injected in bound.injection.apply(draft):
                    (changes if isinstance(injected, Change) else conflicts).append(_injected(bound, injected))
    return draft, conflicts, changes


def _injected(bound: BoundInjection, injected: Injected) -> Finding:
    container = injected.container
    changed = isinstance(injected, Change)
    return Finding(
        bound.policy,
        bound.name,
        "inject" if changed else "deny",
        injected.pointer,
        injected.message,
        container.kind if container else None,
        container.name if container else None,
        None,
        None,
        not changed,
        changed,
        tuple(injected.operations) if isinstance(injected, Change) else (),
    )


def _finding(bound: BoundRule, result: Result) -> Finding:
    container = result.container
    kind = result.kind
    outcome: Outcome = bound.action if kind == "violation" else "warn" if kind == "warning" else "note"
    # By position: a Finding has many fields, and this is done for every one.
    return Finding(
        bound.policy,
        bound.name,
        outcome,
        result.pointer,
        result.message,
        container.kind if container else None,
        container.name if container else None,
        container.image if container else None,
        bound.help if kind == "violation" else None,
        result.final,
        kind == "warning",
    )


def _repair(bound: BoundRule, result: Result) -> Finding:
    assert result.repair is not None
    container = result.container
    return Finding(
        bound.policy,
        bound.name,
        "repair",
        result.pointer,
        result.repair.message,
        container.kind if container else None,
        container.name if container else None,
        container.image if container else None,
        None,
        result.final,
        True,
        tuple(result.repair.operations),
    )
