"""The rules that Kyverno makes for the controllers of pods."""

from typing import Any

import pytest

from app.kyverno.autogen import ANNOTATION, base_name, generated
from tests.kyverno.judging import applied, compiled, policy

PATTERN = {"validate": {"pattern": {"spec": {"hostNetwork": False}}}}
CONTROLLERS = ["DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController", "StatefulSet"]


def made(*rules: dict[str, Any], controllers: str | None = None) -> list[dict[str, Any]]:
    document = policy(*rules)
    if controllers is not None:
        document["metadata"]["annotations"] = {ANNOTATION: controllers}
    return [each for _, each in generated(document)]


def kinds(found: dict[str, Any]) -> list[str]:
    return [kind.rpartition("/")[2] for kind in found["match"]["any"][0]["resources"]["kinds"]]


def test_a_rule_for_pods_becomes_one_for_controllers_and_one_for_cron_jobs() -> None:
    plain, cron = made({"name": "no-host", **PATTERN})
    assert (plain["name"], cron["name"]) == ("autogen-no-host", "autogen-cronjob-no-host")
    assert (kinds(plain), kinds(cron)) == (CONTROLLERS, ["CronJob"])
    assert plain["validate"]["pattern"] == {"spec": {"template": {"spec": {"hostNetwork": False}}}}
    template = {"spec": {"template": {"spec": {"hostNetwork": False}}}}
    assert cron["validate"]["pattern"] == {"spec": {"jobTemplate": template}}
    assert (base_name(plain["name"]), base_name(cron["name"]), base_name("x")) == ("no-host", "no-host", "x")


def test_each_of_any_pattern_is_taken_along_and_foreach_stays() -> None:
    (plain, _) = made({"validate": {"anyPattern": [{"spec": {"a": 1}}, {"spec": {"b": 1}}]}})
    assert plain["validate"]["anyPattern"][1] == {"spec": {"template": {"spec": {"b": 1}}}}
    (plain, _) = made(
        {"validate": {"foreach": [{"list": "request.object.spec.containers", "pattern": {"image": "a"}}]}}
    )
    entry = plain["validate"]["foreach"][0]
    assert (entry["list"], entry["pattern"]) == ("request.object.spec.template.spec.containers", {"image": "a"})


def test_the_text_of_variables_is_rewritten_and_nothing_else() -> None:
    text = (
        "{{ request.object.spec.a }} {{ request.object.metadata.b }} "
        "{{ request.object.kind }} {{ request.oldObject.spec }}"
    )
    (plain, cron) = made({"validate": {"message": text, "deny": {}}})
    assert plain["validate"]["message"] == (
        "{{ request.object.spec.template.spec.a }} {{ request.object.spec.template.metadata.b }} "
        "{{ request.object.kind }} {{ request.oldObject.spec.template.spec }}"
    )
    assert "{{ request.object.spec.jobTemplate.spec.template.spec.a }}" in cron["validate"]["message"]


def test_a_strategic_merge_is_taken_along_without_the_order_of_its_foreach() -> None:
    merge = {"spec": {"runtimeClassName": "nvidia"}}
    (plain, _) = made({"mutate": {"patchStrategicMerge": merge}})
    assert plain["mutate"] == {"patchStrategicMerge": {"spec": {"template": merge}}}
    entry = {"list": "request.object.spec.containers", "order": "Descending", "patchStrategicMerge": merge}
    (plain, _) = made({"mutate": {"foreach": [entry]}})
    assert plain["mutate"]["foreach"] == [
        {"list": "request.object.spec.template.spec.containers", "patchStrategicMerge": {"spec": {"template": merge}}}
    ]


@pytest.mark.parametrize(
    "other",
    [
        {"match": {"any": [{"resources": {"kinds": ["Pod"], "names": ["a"]}}]}},
        {"match": {"any": [{"resources": {"kinds": ["Pod"], "selector": {"matchLabels": {"a": "b"}}}}]}},
        {"match": {"any": [{"resources": {"kinds": ["Pod"], "annotations": {"a": "b"}}}]}},
        {"match": {"any": [{"resources": {"kinds": ["Pod", "Deployment"]}}]}},
        {"exclude": {"any": [{"resources": {"names": ["a"]}}]}},
        {"mutate": {"patchesJson6902": "[]"}, "validate": None},
        {"mutate": {"foreach": [{"list": "a", "patchesJson6902": "[]"}]}, "validate": None},
        {"generate": {"kind": "ConfigMap"}, "validate": None},
    ],
)
def test_one_rule_that_cannot_be_taken_along_keeps_all_from_it(other: dict[str, Any]) -> None:
    assert made({"name": "a", **PATTERN})
    assert made({"name": "a", **PATTERN}, {"name": "b", **PATTERN, **other}) == []


@pytest.mark.parametrize(
    ("annotation", "names"),
    [
        ("none", []),
        ("all", ["autogen-rule", "autogen-cronjob-rule"]),
        ("Deployment,Job", ["autogen-rule"]),
        ("CronJob", ["autogen-cronjob-rule"]),
        ("", ["autogen-rule", "autogen-cronjob-rule"]),
    ],
)
def test_the_annotation_says_for_which(annotation: str, names: list[str]) -> None:
    found = made(PATTERN, controllers=annotation)
    assert [each["name"] for each in found] == names
    if annotation == "Deployment,Job":
        assert kinds(found[0]) == ["Deployment", "Job"]


def test_rules_for_other_kinds_are_left_alone() -> None:
    assert made({**PATTERN, "kinds": ("Service",)}) == []
    assert made({**PATTERN, "exclude": {"any": [{"resources": {"kinds": ["Service"]}}]}}) == []
    found = made({**PATTERN, "exclude": {"any": [{"resources": {"kinds": ["Pod"], "namespaces": ["a"]}}]}})
    excluded = found[0]["exclude"]["any"][0]["resources"]
    assert excluded["namespaces"] == ["a"]
    assert "apps/v1/Deployment" in excluded["kinds"]


def test_long_names_are_cut() -> None:
    assert made({"name": "a" * 60, **PATTERN})[0]["name"] == "autogen-" + "a" * 55


def test_a_generated_rule_judges_the_controller() -> None:
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "team-a"},
        "spec": {"template": {"spec": {"hostNetwork": True}}},
    }
    (result,) = applied(compiled({**PATTERN}), deployment).results
    assert (result.rule, result.status, result.pointer) == ("autogen-rule", "fail", "/spec/template/spec/hostNetwork")
    cron_job = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {}, "spec": {"jobTemplate": deployment}}
    (result,) = applied(compiled({**PATTERN}), cron_job).results
    assert (result.rule, result.pointer) == ("autogen-cronjob-rule", "/spec/jobTemplate/spec/template/spec/hostNetwork")
