"""What holds for every pod, every policy and everything that may be known of the cluster."""

import copy
from typing import Any

import jsonpatch
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from app.admission.judge import judge
from app.engine import Decision, decide
from app.model.context import Context
from app.model.finding import Finding
from app.model.pod import Pod
from tests.engine.api_server import Refused, runtime_class_plugin
from tests.engine.policies import FACTS, POLICIES, TODAY
from tests.engine.strategies import Object, pods

thorough = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
policies = st.sampled_from(sorted(POLICIES))
facts = st.sampled_from(sorted(FACTS))
namespaces = st.sampled_from(["team", "research-a", "nb-1"])


def context_of(known: str, namespace: str = "team") -> Context:
    return Context(namespace, TODAY, FACTS[known])


def patched(obj: Object, decision: Decision) -> Object:
    operations = [operation for change in decision.changes for operation in change.operations]
    result: Object = jsonpatch.apply_patch(copy.deepcopy(obj), operations)
    return result


def violations(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.outcome, finding.text) for finding in findings if not finding.early]


@thorough
@given(pods, policies, facts, namespaces)
def test_judging_is_repeatable_and_leaves_the_pod_alone(obj: Object, name: str, known: str, namespace: str) -> None:
    before, context = copy.deepcopy(obj), context_of(known, namespace)
    for repair in (True, False):
        first = decide(POLICIES[name], Pod.of(obj), context, repair=repair)
        assert obj == before
        again = decide(POLICIES[name], Pod.of(copy.deepcopy(obj)), context, repair=repair)
        assert (first.findings, first.changes) == (again.findings, again.changes)
        event(f"{name}: {'changed' if first.changes else 'left'}, {'found' if first.findings else 'nothing'}")


@thorough
@given(pods, policies, facts, namespaces)
def test_a_patch_applies_and_only_adds(obj: Object, name: str, known: str, namespace: str) -> None:
    decision = decide(POLICIES[name], Pod.of(obj), context_of(known, namespace))
    assert all(change.operations for change in decision.changes)
    assert all(not finding.operations for finding in decision.findings)
    after = patched(obj, decision)
    assert_only_added(obj, after)
    if not decision.changes:
        assert after == obj


@thorough
@given(pods, policies, facts, namespaces)
def test_a_patched_pod_is_changed_no_more_and_judged_as_promised(
    obj: Object, name: str, known: str, namespace: str
) -> None:
    policy, context = POLICIES[name], context_of(known, namespace)
    decision = decide(policy, Pod.of(obj), context)
    after = patched(obj, decision)
    again = decide(policy, Pod.of(after), context)
    assert again.changes == []
    as_it_is = decide(policy, Pod.of(after), context, repair=False)
    assert as_it_is.changes == []
    # What was repaired is found no more, and nothing else is found or gone.
    assert violations(again.findings) == violations(decision.findings)
    assert violations(as_it_is.findings) == violations(decision.findings)


@thorough
@given(pods, policies, facts, namespaces)
def test_a_patch_makes_no_pod_that_the_api_server_refuses(obj: Object, name: str, known: str, namespace: str) -> None:
    policy, context = POLICIES[name], context_of(known, namespace)
    try:
        seen = runtime_class_plugin(obj, context.facts)  # it runs before the webhooks ...
    except Refused:
        event("refused before the webhook")
        return
    decision = decide(policy, Pod.of(seen), context)
    stored = runtime_class_plugin(patched(seen, decision), context.facts)  # ... and once more after them
    # The validating call sees the class's own selector and tolerations too.
    final = decide(policy, Pod.of(stored), context, repair=False)
    assert violations(final.findings) == violations(decision.findings)


@thorough
@given(pods, policies, facts, namespaces)
def test_without_repair_there_is_a_violation_for_each(obj: Object, name: str, known: str, namespace: str) -> None:
    policy, context = POLICIES[name], context_of(known, namespace)
    repaired = [change for change in decide(policy, Pod.of(obj), context).changes if change.outcome == "repair"]
    found = decide(policy, Pod.of(obj), context, repair=False).findings
    places = {(finding.rule, finding.pointer) for finding in found}
    assert {(change.rule, change.pointer) for change in repaired} <= places
    as_written = judge(policy, Pod.of(obj), context, "enforce", as_written=True)
    assert as_written.patch == []
    assert all(finding.outcome not in ("repair", "inject") for finding in as_written.findings)


def assert_only_added(before: Any, after: Any, path: str = "") -> None:
    """Everything that was there is still there, equal, and in its place."""
    if before is None or (path == "/spec/runtimeClassName" and before == ""):
        return
    assert type(before) is type(after), path
    if isinstance(before, dict):
        for key, value in before.items():
            assert key in after, f"{path}/{key}"
            assert_only_added(value, after[key], f"{path}/{key}")
    elif isinstance(before, list):
        assert len(after) >= len(before), path
        for index, value in enumerate(before):
            assert_only_added(value, after[index], f"{path}/{index}")
    else:
        assert before == after, path
