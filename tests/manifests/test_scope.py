"""The digest changes with what reaches the server, and with nothing else."""

from typing import Any

import pytest

from app.manifests.broad import broadest
from app.manifests.scope import scope_digest, scope_digests
from app.model.gpu import GpuSet
from app.rules.registry import RULES
from app.sources.policies import read_policy
from tests.manifests.policies import BYPASS, CLASS, FENCE, GPU_RULE, SELECT, policy

RULES_OF: list[dict[str, Any]] = [CLASS, FENCE, BYPASS | {"action": "warn"}]
BASE = policy(rules=RULES_OF)


@pytest.mark.parametrize(
    "spec",
    [
        {"rules": [CLASS | {"help": "ask us"}, FENCE, BYPASS | {"action": "warn"}]},
        {"rules": [CLASS, FENCE, BYPASS | {"action": "audit"}]},
        {"rules": [{**CLASS, "with": {"default": "nvidia", "allowed": ["nvidia", "other"]}}, *RULES_OF[1:]]},
        {"rules": [GPU_RULE, *RULES_OF]},
        {"rules": RULES_OF[::-1]},
        {"rules": RULES_OF, "modes": {"labels": ["enforce", "assist", "warn", "audit"]}},
    ],
    ids=["help", "warn or audit", "parameters", "one more rule", "order of rules", "order of labels"],
)
def test_what_only_the_answers_depend_on_changes_nothing(spec: dict[str, Any]) -> None:
    assert scope_digest(policy(**spec)) == scope_digest(BASE)


@pytest.mark.parametrize(
    "spec",
    [
        {"rules": RULES_OF, "gpus": {"presets": ["nvidia", "amd"]}},
        {"rules": RULES_OF, "gpus": {"presets": ["nvidia"], "deviceClasses": ["a"]}},
        {"rules": RULES_OF, "gpus": {"presets": ["nvidia"], "annotations": ["a"]}},
        {"rules": [*RULES_OF[:2], BYPASS]},
        {"rules": [CLASS, {**FENCE, "with": {"taintKeys": ["a"]}}, RULES_OF[2]]},
        {"rules": RULES_OF[:2]},
        {"rules": RULES_OF, "modes": {"default": "warn"}},
        {"rules": RULES_OF, "modes": {"namespaces": {"a": "enforce"}}},
        {"rules": RULES_OF, "exempt": {"namespaces": ["a"]}},
        {"rules": RULES_OF, "exempt": {"serviceAccounts": ["a/b"]}},
        {"rules": RULES_OF, "workloads": {"refuse": ["jobs.batch"]}},
        {"rules": RULES_OF, "workloads": {"kinds": [{"resource": "a.b.c", "kind": "A", "paths": ["/spec"]}]}},
        {"rules": [RULES_OF[0] | {"action": "warn"}, *RULES_OF[1:]]},
    ],
    ids=str,
)
def test_what_decides_on_the_entries_changes_it(spec: dict[str, Any]) -> None:
    assert scope_digest(policy(**spec)) != scope_digest(BASE)


def test_both_scopes_have_one() -> None:
    made = read_policy("shipped")
    assert scope_digests(made) == {scope_digest(made), scope_digest(made, "broad")}
    assert all(len(digest) == 16 and int(digest, 16) >= 0 for digest in scope_digests(made))
    assert len(scope_digests(made)) == 2


def test_the_broad_scope_of_one_policy_is_that_of_another() -> None:
    """Unless its modes, exempt namespaces or names of its own differ."""
    made = policy(gpus={"presets": ["amd"]}, rules=[GPU_RULE, BYPASS | {"action": "warn"}], inject=[SELECT])
    other = policy(gpus={"presets": ["tpu", "kai"]}, rules=[CLASS, FENCE], exempt={"serviceAccounts": ["a/b"]})
    assert scope_digest(made, "broad") == scope_digest(other, "broad")
    assert scope_digest(made) != scope_digest(other)
    for wider in (
        policy(gpus={"resources": ["example.com/gpu"]}),
        policy(gpus={"annotations": ["example.com/gpu"]}),
        policy(rules=[{**FENCE, "with": {"nodeLabels": ["example.com/pool"]}}]),
        policy(modes={"default": "enforce"}),
        policy(exempt={"namespaces": ["a"]}),
    ):
        assert scope_digest(wider, "broad") != scope_digest(made, "broad")


def test_the_broad_scope_knows_every_rule_about_pods_without_gpus() -> None:
    for rule in RULES.values():
        if rule.pods != "gpu":
            assert isinstance(broadest(rule, GpuSet(BASE.gpus.vendors), ()), rule.parameters)
