"""The GpuPolicy that comes out."""

from typing import Any

import orjson
import pytest
import yaml

from app.migrate.migrate import migrate
from app.policy.load import load
from tests.migrate.rules import ASKS, SHIPPED, migrated, operations, patch, pattern, policy, rule

CLASS = {"runtimeClassName": "nvidia"}
SEED = """
- name: require-gpu-limits
  preconditions:
    all: [{key: '{{ request.object.spec.containers[].resources.requests."nvidia.com/gpu" || '''' }}', operator: NotEquals, value: ''}]
  validate: {message: limits, pattern: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: '?*'}}}]}}}
- name: deny-privileged-gpu-pods
  preconditions:
    all: [{key: '{{ request.object.spec.containers[].resources.limits."nvidia.com/gpu" || '''' }}', operator: NotEquals, value: ''}]
  validate: {message: privileged, pattern: {spec: {containers: [{=(securityContext): {=(privileged): false}}]}}}
- name: require-nvidia-runtimeclass
  preconditions:
    all: [{key: '{{ request.object.spec.containers[].resources.limits."nvidia.com/gpu" || '''' }}', operator: NotEquals, value: ''}]
  validate: {message: class, pattern: {spec: {runtimeClassName: nvidia}}}
"""  # noqa: E501 - as people write them


def usual() -> list[dict[str, Any]]:
    """The three rules that teams have for GPU pods."""
    return [rule(**each) for each in yaml.safe_load(SEED)]


def test_the_usual_rules_are_the_first_three_of_the_shipped_policy_without_repair() -> None:
    found = migrated(*usual())
    assert found.document is not None
    assert found.document["spec"]["rules"] == [
        {key: value for key, value in each.items() if key != "repair"} for each in SHIPPED["spec"]["rules"][:3]
    ]
    assert found.document["spec"]["modes"] == {"default": "enforce"}
    assert [row.verdict for row in found.rows] == ["better", "better", "better"]


def test_what_the_shipped_policy_adds_is_listed() -> None:
    assert migrated(*usual()).additions == (
        "repair of limits-equal-requests: what has one right answer is set rather than refused",
        "repair of runtime-class: what has one right answer is set rather than refused",
        "rule no-gpu-bypass (action: warn): No way to a GPU around the resource request",
        "rule gpu-nodes-reserved (action: warn): Pods without GPUs stay off GPU nodes",
        "injection of tolerations for nvidia.com/gpu=present:NoSchedule",
        "injection of the nodeSelector accelerator=nvidia-gpu",
        "exempt namespaces: kube-system, gpu-operator, nvidia-device-plugin",
        "modes by the label of a namespace, audit until it says otherwise",
    )


def test_it_loads() -> None:
    found = migrated(*usual(), operations("{op: add, path: /spec/tolerations/-, value: {key: gpu, operator: Exists}}"))
    loaded = load([("migrated.json", orjson.dumps(found.document))])
    assert [each.name for each in loaded.rules] == ["limits-equal-requests", "no-privileged", "runtime-class"]
    assert [each.name for each in loaded.injections] == ["checked"]


@pytest.mark.parametrize(
    ("actions", "mode", "written"),
    [
        ((None, None), "enforce", [None, None]),
        (("Audit", None), "enforce", ["audit", None]),
        (("Audit", "audit"), "audit", [None, None]),
    ],
)
def test_actions_and_modes(actions: tuple[str | None, ...], mode: str, written: list[str | None]) -> None:
    rules = [pattern(CLASS, ASKS, name="one"), pattern({"nodeSelector": {"a": "b"}}, ASKS, name="two")]
    rules[1] = usual()[1]
    for made, action in zip(rules, actions, strict=True):
        if action:
            made["validate"]["failureAction"] = action
    document = migrated(*rules).document
    assert document is not None
    assert document["spec"]["modes"] == {"default": mode}
    assert [each.get("action") for each in document["spec"]["rules"]] == written


def test_a_mode_may_be_chosen() -> None:
    made = pattern(CLASS, ASKS)
    made["validate"]["failureAction"] = "Audit"
    document = migrate([policy(made)], SHIPPED, "warn").document
    assert document is not None
    assert document["spec"]["modes"] == {"default": "warn"}
    # So that a namespace that enforces later does not refuse for it.
    assert document["spec"]["rules"][0]["action"] == "audit"


def test_the_reach_of_a_rule_becomes_its_match() -> None:
    made = {
        **pattern(
            CLASS, ASKS, {"key": "{{ request.object.metadata.labels.team || '' }}", "operator": "Equals", "value": "ml"}
        ),
        "match": {
            "any": [{"resources": {"kinds": ["Pod"], "namespaces": ["ml-*"], "selector": {"matchLabels": {"a": "b"}}}}]
        },
        "exclude": {"any": [{"resources": {"namespaces": ["ml-test"]}}]},
    }
    document = migrated(made).document
    assert document is not None
    (entry,) = document["spec"]["rules"]
    assert entry["match"] == {
        "namespaces": ["ml-*"],
        "podLabels": {"a": "b", "team": "ml"},
        "notNamespaces": ["ml-test"],
    }


def test_rules_that_say_the_same_become_one_and_others_get_names() -> None:
    other = {
        **pattern({"runtimeClassName": "kata"}, ASKS, name="Other Class"),
        "match": {"any": [{"resources": {"kinds": ["Pod"], "namespaces": ["kata"]}}]},
    }
    document = migrated(pattern(CLASS, ASKS, name="a"), pattern(CLASS, ASKS, name="b"), other).document
    assert document is not None
    assert [(each["rule"], each.get("name")) for each in document["spec"]["rules"]] == [
        ("runtime-class", None),
        ("runtime-class", "other-class"),
    ]


def test_gpus_of_several_vendors() -> None:
    gates = [
        {**ASKS, "key": str(ASKS["key"]).replace("nvidia.com/gpu", resource)}
        for resource in ("amd.com/gpu", "example.com/gpu")
    ]
    document = migrated(*(patch({"nodeSelector": {"a": "b"}}, gate) for gate in gates)).document
    assert document is not None
    assert document["spec"]["gpus"] == {"presets": ["amd"], "resources": ["example.com/gpu"]}
    assert [each["name"] for each in document["spec"]["inject"]] == ["checked", "checked-2"]


def test_overrides_of_the_action_are_told() -> None:
    spec = {"validationFailureActionOverrides": [{"action": "Audit", "namespaces": ["dev"]}]}
    (row,) = migrated(pattern(CLASS, ASKS), **spec).rows
    assert row.notes == (
        "its action differs by namespace (Audit in dev): set modes.namespaces, or the label of each namespace",
    )


def test_policies_of_other_kinds_are_named() -> None:
    other = {"apiVersion": "policies.kyverno.io/v1", "kind": "ValidatingPolicy", "metadata": {"name": "v"}, "spec": {}}
    found = migrate([other], SHIPPED)
    assert found.document is None
    assert [(row.policy, row.verdict, row.notes) for row in found.rows] == [
        ("v", "not taken", ("ValidatingPolicy of policies.kyverno.io/v1 has no counterpart",))
    ]


@pytest.mark.parametrize(
    "broken",
    [
        {"spec": None},
        {"spec": {"rules": None}},
        {"spec": {"rules": ["a"]}},
        {"spec": {"rules": [{"name": "a", "match": [], "validate": {"pattern": {}}}]}},
        {"spec": {"rules": [{"name": "a", "match": {"any": ["x"]}, "validate": "x"}]}},
        {"spec": {"rules": [rule(ASKS, validate={"pattern": 3})]}},
        {"spec": {"rules": [rule(ASKS, validate={"deny": 3})]}},
        {"spec": {"rules": [rule(3, validate={"deny": {}})]}},  # type: ignore[arg-type]
        {"spec": {"rules": [rule(ASKS, mutate={"patchStrategicMerge": {"spec": 3}})]}},
        {"spec": {"rules": [rule(ASKS, mutate={"patchesJson6902": "- 3"})]}},
        {"metadata": None},
    ],
)
def test_a_broken_policy_has_an_answer(broken: dict[str, Any]) -> None:
    found = migrate([{**policy(), **broken}], SHIPPED)
    assert found.document is None
    assert {row.verdict for row in found.rows} <= {"not taken"}
