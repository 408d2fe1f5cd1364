"""Configurations that are wide enough for two policies at once."""

from typing import Any

import pytest

from app.manifests.client import Url
from app.manifests.objects import POLICY_ANNOTATION, SCOPE_ANNOTATION, configurations
from app.manifests.parts import joint_parts, parts
from app.manifests.scope import scope_digest, scope_digests
from app.manifests.transition import transition
from app.policy.compiled import Policy
from app.sources.policies import read_policy
from tests.manifests.policies import BYPASS, CLASS, FENCE, GPU_RULE, SELECT, policy

CLIENT = Url("https://gpugate.example.com", b"certificate")
NVIDIA = policy(rules=[GPU_RULE])
AMD = policy(gpus={"presets": ["nvidia", "amd"]}, rules=[GPU_RULE])
PAIRS = [
    (NVIDIA, AMD),
    (AMD, NVIDIA),
    (NVIDIA, policy(rules=[CLASS, FENCE, BYPASS | {"action": "warn"}], inject=[SELECT])),
    (policy(), read_policy("shipped")),
]


@pytest.mark.parametrize(("old", "new"), PAIRS)
@pytest.mark.parametrize("phase", ["mutate", "validate"])
def test_every_pod_of_either_policy_is_in_a_part_at_least_as_strict(old: Policy, new: Policy, phase: Any) -> None:
    for mode in ("audit", "warn", "assist", "enforce"):
        joint = {part.name: part for part in joint_parts(old, new, phase, mode)}
        for each in (old, new):
            for part in parts(each, phase, mode, "tight"):
                wider = joint[part.name]
                assert wider.strict >= part.strict
                # The first alternatives, line by line, are those that say which pods are meant.
                meant = part.condition.partition("\n)")[0].splitlines()
                assert {line.strip(" |") for line in meant} <= {
                    line.strip(" |") for line in wider.condition.split("\n")
                }


def test_only_who_is_exempt_in_both_is_left_out() -> None:
    first = policy(rules=[GPU_RULE], exempt={"serviceAccounts": ["a/b"]})
    second = policy(rules=[GPU_RULE], exempt={"serviceAccounts": ["c/d"]})
    condition = joint_parts(first, second, "validate", "enforce")[0].condition
    exempt = condition.rpartition("!(")[2]
    assert '["a/b"]' in exempt.partition(") && (")[0]
    assert '["c/d"]' in exempt.partition(") && (")[2]


def test_its_paths_are_those_of_both_policies() -> None:
    made = transition(NVIDIA, AMD, CLIENT)
    both = f"{scope_digest(NVIDIA)}.{scope_digest(AMD)}"
    for each in made:
        assert each["metadata"]["annotations"] == {POLICY_ANNOTATION: NVIDIA.digest, SCOPE_ANNOTATION: both}
        for entry in each.get("webhooks") or []:
            assert entry["clientConfig"]["url"].rpartition("/")[2] == both
    for run in (NVIDIA, AMD):
        assert scope_digests(run) & set(both.split("."))


def test_a_policy_that_reaches_no_more_and_no_less_needs_none() -> None:
    told = policy(rules=[GPU_RULE | {"help": "ask us"}])
    assert told.digest != NVIDIA.digest
    assert transition(NVIDIA, told, CLIENT) == configurations(NVIDIA, CLIENT, "tight")


def test_namespaces_keep_the_mode_of_the_old_policy() -> None:
    old = policy(rules=[GPU_RULE], modes={"default": "disabled", "labels": [], "namespaces": {"a": "audit"}})
    new = policy(rules=[GPU_RULE], modes={"default": "disabled", "labels": [], "namespaces": {"a": "enforce"}})
    names = [entry["name"] for each in transition(old, new, CLIENT) for entry in each.get("webhooks") or []]
    assert [name for name in names if name.startswith("validate-")] == ["validate-audit-pinned.gpugate.dev"]
