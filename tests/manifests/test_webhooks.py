"""Which entries a policy has, and what a failure of each means."""

import re
from typing import Any

import pytest

from app.admission.webhook import Phase
from app.manifests.parts import Scope, parts
from app.manifests.webhooks import PHASES, Entry, entries
from app.policy.compiled import Policy
from app.sources.policies import read_policy
from tests.manifests.policies import BYPASS, CLASS, FENCE, GPU_RULE, SELECT, policy

SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?){2,}")


def enforced(made: Policy, phase: Phase, scope: Scope = "tight") -> dict[str, bool]:
    """The parts of `enforce`, and whether each fails closed."""
    return {part.name: part.strict for part in parts(made, phase, "enforce", scope)}


GPU, OTHER, LENIENT = {"gpu": True}, {"other": True}, {"lenient": False}
TABLE: list[tuple[str, dict[str, Any], dict[str, bool], dict[str, bool]]] = [
    ("nothing", {}, {}, {}),
    ("a refusing rule", {"rules": [GPU_RULE]}, {}, GPU | LENIENT),
    ("a warning rule", {"rules": [GPU_RULE | {"action": "warn"}]}, {}, LENIENT),
    ("a repairing rule", {"rules": [CLASS | {"action": "audit", "repair": True}]}, GPU | LENIENT, LENIENT),
    ("a rule that could repair", {"rules": [CLASS | {"action": "warn"}]}, LENIENT, LENIENT),
    ("a selector", {"inject": [SELECT]}, GPU | LENIENT, GPU | LENIENT),
    ("a selector that gives way", {"inject": [SELECT | {"onConflict": "keep"}]}, GPU | LENIENT, {}),
    ("a fence", {"rules": [FENCE]}, {}, OTHER),
    ("a fence that warns", {"rules": [FENCE | {"action": "warn"}]}, {}, LENIENT),
    ("a refusing rule for all", {"rules": [BYPASS]}, {}, GPU | OTHER | LENIENT),
    ("a warning rule for all", {"rules": [GPU_RULE, BYPASS | {"action": "warn"}]}, {}, GPU | LENIENT),
    ("no device classes", {"gpus": {"presets": ["amd"]}, "rules": [CLASS]}, GPU, GPU),
    ("hidden claims", {"gpus": {"presets": ["amd"]}, "rules": [GPU_RULE]}, {}, GPU | LENIENT),
    ("no GPUs at all", {"gpus": {}, "rules": [FENCE]}, {}, OTHER),
]


@pytest.mark.parametrize(("spec", "mutate", "validate"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_the_parts_of_enforce(spec: dict[str, Any], mutate: dict[str, bool], validate: dict[str, bool]) -> None:
    made = policy(**spec)
    assert enforced(made, "mutate") == mutate
    assert enforced(made, "validate") == validate
    for phase, expected in (("mutate", mutate), ("validate", validate)):
        for mode in ("audit", "warn", "assist"):
            found = [(part.name, part.strict) for part in parts(made, phase, mode, "tight")]  # type: ignore[arg-type]
            assert found == ([("", False)] if expected else [])


def test_the_parts_of_the_broad_scope_are_those_of_any_policy() -> None:
    for made in (policy(), policy(gpus={}, rules=[FENCE]), policy(rules=[FENCE, GPU_RULE], inject=[SELECT])):
        assert enforced(made, "mutate", "broad") == GPU | LENIENT
        assert enforced(made, "validate", "broad") == GPU | LENIENT


def all_entries(made: Policy, scope: Scope = "tight") -> list[Entry]:
    return [entry for phase in PHASES for entry in entries(made, phase, scope)]


PINNED = policy(
    modes={"default": "warn", "namespaces": {"a": "enforce", "b": "audit", "c": "disabled"}},
    rules=[GPU_RULE, BYPASS, FENCE],
    inject=[SELECT],
)


@pytest.mark.parametrize("scope", ["tight", "broad"])
@pytest.mark.parametrize("made", [read_policy("shipped"), PINNED], ids=["shipped", "pinned"])
def test_every_entry_is_what_it_is_called(made: Policy, scope: Scope) -> None:
    found = all_entries(made, scope)
    names = [entry.name for entry in found]
    assert len(set(names)) == len(names)
    for entry in found:
        webhook = entry.webhook({})
        assert SUBDOMAIN.fullmatch(entry.name)
        assert len(entry.name) <= 63
        strict = webhook["failurePolicy"] == "Fail"
        assert webhook["timeoutSeconds"] == (3 if strict else 1)
        assert (webhook["sideEffects"], webhook["admissionReviewVersions"]) == ("None", ["v1"])
        assert webhook["matchConditions"], "never an entry for every pod"
        assert not strict or entry.namespaces.mode == "enforce"
        rules = [(rule["operations"], rule["resources"]) for rule in webhook["rules"]]
        if entry.phase == "mutate":
            assert rules == [(["CREATE"], ["pods"])]
            assert webhook["reinvocationPolicy"] == "Never"
        else:
            assert rules == [(["CREATE"], ["pods"]), (["UPDATE"], ["pods", "pods/ephemeralcontainers"])]
            assert "!has(object.metadata.deletionTimestamp)" in webhook["matchConditions"][0]["expression"]


def test_names_say_phase_mode_and_part() -> None:
    names = [entry.name.removesuffix(".gpugate.dev") for entry in entries(PINNED, "validate")]
    assert names == [
        "validate-audit-pinned",
        "validate-audit",
        "validate-warn",
        "validate-assist",
        "validate-enforce-pinned-gpu",
        "validate-enforce-pinned-other",
        "validate-enforce-pinned-lenient",
        "validate-enforce-gpu",
        "validate-enforce-other",
        "validate-enforce-lenient",
    ]


def test_exemptions_are_in_the_conditions_of_the_tight_scope_only() -> None:
    exempt = {"serviceAccounts": ["a/exporter"], "pods": [{"namespace": "b", "labels": {"app": "x", "k": ""}}]}
    made = policy(rules=[GPU_RULE], exempt=exempt)
    for entry in all_entries(made):
        condition = entry.part.condition
        assert 'request.namespace + "/" + object.spec.serviceAccountName in ["a/exporter"]' in condition
        assert 'request.namespace == "b"' in condition
        assert 'object.metadata.labels["k"] == ""' in condition
    for entry in all_entries(made, "broad"):
        assert "exporter" not in entry.part.condition
