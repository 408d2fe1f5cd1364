"""The conditions of entries for Kyverno's policies: never false for a pod that a rule is for."""

from typing import Any

import pytest
import yaml

from app.manifests.advisory import advisory
from app.manifests.conditions import broad, tight
from app.manifests.kyverno import reach
from app.manifests.parts import parts
from app.policy.compiled import Policy
from app.policy.load import load
from tests.kyverno.judging import policy

DENY: dict[str, Any] = {"validate": {"deny": {}}}
MUTATE: dict[str, Any] = {"mutate": {"patchStrategicMerge": {"spec": {"a": "b"}}}}


def loaded(*rules: dict[str, Any], document: dict[str, Any] | None = None, **spec: Any) -> Policy:
    written = {**policy(*rules, **spec), **(document or {})}
    return load([("policy.yaml", yaml.safe_dump(written).encode())])


def match(**resources: Any) -> dict[str, Any]:
    return {"match": {"any": [{"resources": {"kinds": ["Pod"], **resources}}]}}


LABELLED = 'has(object.metadata.labels) && "a" in object.metadata.labels && object.metadata.labels["a"] == "b"'


@pytest.mark.parametrize(
    ("matched", "condition"),
    [
        (match(), "true"),
        (match(namespaces=["a", "b"]), 'request.namespace in ["a", "b"]'),
        (match(namespaces=["ml-*"]), 'request.namespace.startsWith("ml-")'),
        (match(namespaces=["*-ml", "a"]), "true"),
        (match(namespaces=["*"]), "true"),
        (match(namespaces=["a?"]), "true"),
        (match(names=["x"]), "true"),
        (match(operations=["CREATE"]), "true"),
        (match(selector={"matchLabels": {"a": "b"}}), LABELLED),
        (match(selector={"matchLabels": {"a*": "b"}}), "true"),
        (match(namespaces=["x"], selector={"matchLabels": {"a": "b"}}), f'request.namespace == "x" && {LABELLED}'),
        ({"match": {"all": [match(namespaces=["a"])["match"]["any"][0], {"resources": {"names": ["x"]}}]}},
         'request.namespace == "a"'),
        ({"match": match(namespaces=["a"])["match"]["any"][0]}, 'request.namespace == "a"'),
        ({**match(), "exclude": {"any": [{"resources": {"namespaces": ["a"]}}]}}, "true"),
    ],
)  # fmt: skip
def test_a_match_as_a_condition(matched: dict[str, Any], condition: str) -> None:
    assert reach(loaded({**DENY, **matched})).refused == (condition,)


def test_a_policy_of_a_namespace() -> None:
    document = {"kind": "Policy", "metadata": {"name": "a", "namespace": "team"}}
    assert reach(loaded(DENY, document=document)).refused == ('request.namespace == "team"',)


def test_labels_that_a_change_may_add_are_not_asked_for() -> None:
    labelled = {**DENY, **match(selector={"matchLabels": {"a": "b"}})}
    assert reach(loaded({"name": "change", **MUTATE}, labelled)).refused == ("true",)


@pytest.mark.parametrize(
    ("rule", "spec", "group"),
    [
        (DENY, {}, "refused"),
        (DENY, {"validationFailureAction": "Audit"}, "noticed"),
        (DENY, {"failurePolicy": "Ignore"}, "noticed"),
        (
            DENY,
            {
                "validationFailureAction": "Audit",
                "validationFailureActionOverrides": [{"action": "Enforce", "namespaces": ["a"]}],
            },
            "refused",
        ),
        (MUTATE, {}, "changed"),
        (MUTATE, {"failurePolicy": "Ignore"}, "noted"),
    ],
)
def test_what_an_outage_must_not_let_through(rule: dict[str, Any], spec: dict[str, Any], group: str) -> None:
    found = reach(loaded(rule, **spec))
    assert [name for name in ("refused", "noticed", "changed", "noted") if getattr(found, name)] == [group]


def test_the_entries_of_both_phases() -> None:
    made = loaded({"name": "change", **MUTATE}, DENY)
    names = {
        phase: [(part.name, part.strict) for part in parts(made, phase, "enforce", "tight")]
        for phase in ("mutate", "validate")
    }
    assert names == {"mutate": [("other", True)], "validate": [("other", True)]}
    assert [part.strict for part in parts(made, "validate", "warn", "tight")] == [False]


def test_an_update_is_sent_where_it_changes_anything_that_rules_read() -> None:
    assert "object.spec != oldObject.spec" in tight(loaded(DENY)).update
    assert "object.metadata.?labels" in tight(loaded(DENY)).update
    assert "object.spec != oldObject.spec" not in tight(loaded(MUTATE)).update


def test_where_changes_are_not_made_pods_are_judged_as_if_they_were() -> None:
    made = loaded({**MUTATE, **match(namespaces=["a"])}, {"name": "deny", **DENY, **match(namespaces=["b"])})
    for mode, called in (("warn", True), ("enforce", False)):
        conditions = " ".join(part.condition for part in parts(made, "validate", mode, "tight"))  # type: ignore[arg-type]
        assert ('request.namespace == "a"' in conditions) is called


def test_in_the_broad_scope_everything_fails_open() -> None:
    conditions = broad(loaded({"name": "change", **MUTATE}, DENY))
    assert (conditions.refused, conditions.changed) == ((), ())
    assert "true" in conditions.noticed
    assert conditions.noted == ("true",)


def test_what_makes_pods_is_sent_for_advice() -> None:
    (entry, *_) = [each for each in advisory(loaded({**DENY, **match(namespaces=["a"])})) if "enforce" in each.name]
    assert 'request.namespace == "a"' in entry.condition[1]
    beside = {"match": {"any": [match(namespaces=["a"])["match"]["any"][0], {"resources": {"kinds": ["Deployment"]}}]}}
    assert reach(loaded({**DENY, **beside})).advised == ("true",)
    assert reach(loaded(DENY)).advised == ()
