"""One engine, one verdict: what `judge` says of a pod is what the two calls of the webhook answer."""

import copy

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.admission.judge import judge
from app.model.context import ClusterFacts, Context
from app.model.pod import Pod
from app.policy.compiled import Mode, Policy
from tests.admission.asking import Object, Reply, ask
from tests.engine.api_server import Refused, runtime_class_plugin
from tests.engine.policies import FACTS, POLICIES, TODAY
from tests.engine.strategies import pods
from tests.support import pods as valid

MODES: list[Mode] = ["audit", "warn", "assist", "enforce"]


def both_calls(policy: Policy, mode: Mode, obj: Object, facts: ClusterFacts) -> tuple[Reply, Reply | None, Object]:
    """The answers of the mutating and, if that lets the pod pass, the validating call; the pod between them."""
    first = ask(policy, "mutate", mode, obj, facts=facts)
    if not first.allowed:
        return first, None, obj
    final = runtime_class_plugin(first.applied_to(obj), facts)
    return first, ask(policy, "validate", mode, final, facts=facts), final


def check(policy: Policy, mode: Mode, obj: Object, facts: ClusterFacts) -> None:
    before = copy.deepcopy(obj)
    verdict = judge(policy, Pod.of(obj), Context("team", TODAY, facts), mode)
    first, second, final = both_calls(policy, mode, obj, facts)
    assert obj == before
    assert verdict.allowed is (second is not None and second.allowed)
    # The same changes ...
    if first.allowed:
        assert verdict.patch == first.patch
    changes = [f"{finding.outcome} {finding.text}" for finding in verdict.findings if finding.operations]
    if first.allowed and not first.annotations.get("error"):
        assert first.annotations.get("changes", "").splitlines() == changes or len("\n".join(changes)) > 9_000
    # ... and a refusal that names each violation, in whichever call it comes.
    refused = [finding for finding in verdict.findings if finding.outcome == "deny"]
    if mode == "enforce" and refused:
        message = (second or first).message
        for finding in refused[:20]:
            assert finding.text[:900] in message
    if mode == "audit":
        assert first.warnings == []
        assert second is not None
        assert second.warnings == []
    # Judged once more, the pod that is stored gets the same verdict.
    if second is not None and mode in ("assist", "enforce"):
        again = judge(policy, Pod.of(final), Context("team", TODAY, facts), mode)
        assert (again.allowed, again.patch) == (verdict.allowed, [])


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pods, st.sampled_from(sorted(POLICIES)), st.sampled_from(sorted(FACTS)), st.sampled_from(MODES))
def test_any_pod(obj: Object, name: str, known: str, mode: Mode) -> None:
    try:
        seen = runtime_class_plugin(obj, FACTS[known])
    except Refused:
        return
    check(POLICIES[name], mode, seen, FACTS[known])


@pytest.mark.parametrize("name", POLICIES)
def test_pods_as_people_write_them(name: str) -> None:
    for number, obj in enumerate(valid.pods(seed=2, count=400)):
        check(POLICIES[name], MODES[number % len(MODES)], obj, FACTS["unknown"])
