"""Rules: anyPattern, deny, foreach, preconditions, exceptions, updates, and what an error is."""

from typing import Any

import pytest

from app.kyverno.engine import Judging, apply
from app.kyverno.exceptions import compile_exception
from app.kyverno.types import InvalidPolicy, Request
from tests.kyverno.judging import applied, compiled, only, pod


def outcome(validate: dict[str, Any], resource: dict[str, Any], **fields: Any) -> str:
    """The status of one rule."""
    return only(compiled({"validate": validate, **fields}), resource).status


def containers(*made: dict[str, Any]) -> dict[str, Any]:
    return pod({"containers": [{"name": f"c{index}", **each} for index, each in enumerate(made)]})


@pytest.mark.parametrize(
    ("patterns", "status"),
    [
        ([{"a": 1}, {"b": 1}], "pass"),  # one passes
        ([{"a": 2}, {"b": 2}], "fail"),
        ([{"(a)": 2}, {"b": 2}], "fail"),
        ([{"(a)": 2}, {"(b)": 2}], "skip"),
        ([{"a": 2}, {"b": 1}], "pass"),
    ],
)
def test_any_pattern(patterns: list[Any], status: str) -> None:
    resource = pod({"a": 1, "b": 1})
    assert outcome({"anyPattern": [{"spec": pattern} for pattern in patterns]}, resource) == status


def conditions(**listed: list[tuple[Any, str, Any]]) -> dict[str, Any]:
    return {
        name: [{"key": key, "operator": operator, "value": value} for key, operator, value in entries]
        for name, entries in listed.items()
    }


YES, NO = ("a", "Equals", "a"), ("a", "Equals", "b")


@pytest.mark.parametrize(
    ("written", "hold"),
    [
        (conditions(all=[YES, YES]), True),
        (conditions(all=[YES, NO]), False),
        (conditions(any=[NO, YES]), True),
        (conditions(any=[NO]), False),
        (conditions(any=[]), False),
        (conditions(any=[YES], all=[NO]), False),  # together both must hold
        (conditions(any=[YES], all=[YES]), True),
        (conditions(all=[YES, YES])["all"], True),  # the old form: a list that means all
        (conditions(all=[YES, NO])["all"], False),
        ([conditions(any=[YES]), conditions(all=[NO])], False),
        ([], True),
        ({}, True),
    ],
)
def test_conditions(written: Any, hold: bool) -> None:
    denied = outcome({"deny": {"conditions": written}}, pod())
    assert denied == ("fail" if hold else "pass")
    judged = outcome({"pattern": {"spec": "?*"}}, pod(), preconditions=written)
    assert judged == ("fail" if hold else "skip")


def test_conditions_are_asked_only_as_far_as_it_takes() -> None:
    unknown = ("{{ request.object.no.such.field }}", "Equals", "a")
    assert outcome({"deny": {"conditions": conditions(any=[YES, unknown])}}, pod()) == "fail"
    assert outcome({"deny": {"conditions": conditions(all=[NO, unknown])}}, pod()) == "pass"
    assert outcome({"deny": {"conditions": conditions(all=[YES, unknown])}}, pod()) == "error"


def test_the_messages_of_conditions_are_said_too() -> None:
    listed = {"any": [{"key": "a", "operator": "Equals", "value": "a", "message": "since {{ request.namespace }}"}]}
    policy = compiled({"validate": {"message": "no", "deny": {"conditions": listed}}})
    assert only(policy, pod()).message == "no (since team-a)"


def test_a_rule_without_a_message_has_one() -> None:
    assert only(compiled({"validate": {"deny": {}}}), pod()).message == 'rule "rule" failed'


def test_a_failed_pattern_says_where_what_was_found_and_what_is_wanted() -> None:
    pattern = {"spec": {"containers": [{"securityContext": {"privileged": False}}]}}
    result = only(compiled({"validate": {"message": "not here", "pattern": pattern}}), containers(
        {"securityContext": {"privileged": False}}, {"securityContext": {"privileged": True}}
    ))  # fmt: skip
    assert result.message == "not here (spec.containers[1].securityContext.privileged is true; false is wanted)"
    assert result.pointer == "/spec/containers/1/securityContext/privileged"


def test_a_negation_says_that_the_field_must_not_be_there() -> None:
    result = only(compiled({"validate": {"pattern": {"spec": {"X(nodeName)": "null"}}}}), pod({"nodeName": "n"}))
    assert result.message == 'rule "rule" failed (spec.nodeName must not be there)'


def test_patterns_are_not_held_against_what_is_deleted() -> None:
    policy = compiled({"validate": {"pattern": {"spec": {"a": 1}}}})
    (result,) = apply(policy, Judging(Request(None, pod(), "DELETE"))).results
    assert result.status == "skip"


LATEST = {"deny": {"conditions": conditions(any=[("{{ element.image }}", "Equals", "*:latest")])}}
LIST = "request.object.spec.containers"


def test_foreach_fails_at_the_first_element_that_does() -> None:
    policy = compiled({"validate": {"message": "{{ element.name || 'x' }}", "foreach": [{"list": LIST, **LATEST}]}})
    result = only(policy, containers({"image": "a:1"}, {"image": "b:latest"}, {"image": "c:latest"}))
    assert (result.status, result.pointer) == ("fail", "/spec/containers/1")


@pytest.mark.parametrize(
    ("listed", "status"),
    [
        ("request.object.spec.missing", "skip"),  # a list that cannot be found
        ("request.object.spec.containers[?image == 'no']", "skip"),  # an empty one
        ("request.object.spec.containers[0]", "fail"),  # one that is none: its only element
    ],
)
def test_what_foreach_goes_over(listed: str, status: str) -> None:
    assert outcome({"foreach": [{"list": listed, **LATEST}]}, containers({"image": "a:latest"})) == status


def test_foreach_with_patterns_preconditions_and_context() -> None:
    entry = {
        "list": LIST,
        "context": [{"name": "tag", "variable": {"jmesPath": "split(element.image, ':')[1]"}}],
        "preconditions": conditions(all=[("{{ tag }}", "NotEquals", "skip")]),
        "pattern": {"image": "*:{{ tag }}", "resources": {"limits": {"memory": "?*"}}},
    }
    limited = {"resources": {"limits": {"memory": "1Gi"}}}
    assert outcome({"foreach": [entry]}, containers({"image": "a:1", **limited}, {"image": "b:skip"})) == "pass"
    assert outcome({"foreach": [entry]}, containers({"image": "a:1", **limited}, {"image": "b:2"})) == "fail"
    assert outcome({"foreach": [entry]}, containers({"image": "a:skip"})) == "skip"


def test_foreach_inside_foreach_knows_both_elements() -> None:
    known = "{{ element0.name }}{{ elementIndex0 }}{{ elementIndex1 }}{{ element }}"
    inner: dict[str, Any] = {"list": "element.ports"}
    inner["deny"] = {"conditions": conditions(all=[(known, "Equals", "c1018080")])}
    rule = {"foreach": [{"list": LIST, "foreach": [inner]}]}
    assert outcome(rule, containers({"ports": [80]}, {"ports": [1, 8080]})) == "pass"
    inner["deny"]["conditions"]["all"][0]["value"] = "c1118080"
    assert outcome(rule, containers({"ports": [80]}, {"ports": [1, 8080]})) == "fail"


def test_the_scope_of_elements() -> None:
    names = {"list": f"{LIST}[].name", "pattern": {"kind": "Deployment"}}
    assert outcome({"foreach": [names]}, containers({})) == "fail"  # texts: the pattern is for the resource
    elements = {"list": LIST, "elementScope": False, "pattern": {"kind": "Pod"}}
    assert outcome({"foreach": [elements]}, containers({})) == "pass"
    assert outcome({"foreach": [{**names, "elementScope": True}]}, containers({})) == "error"


def test_an_error_of_one_element_hides_no_failure_of_another() -> None:
    deny = {"deny": {"conditions": conditions(any=[("{{ element.image }}", "Equals", "*:latest")])}}
    rule = {"foreach": [{"list": LIST, **deny}]}
    assert outcome(rule, containers({}, {"image": "a:latest"})) == "fail"
    assert outcome(rule, containers({"image": "a:1"}, {})) == "error"


def exception(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "kyverno.io/v2",
        "kind": "PolicyException",
        "metadata": {"name": "mesh"},
        "spec": {
            "match": {"any": [{"resources": {"kinds": ["Pod"], "names": ["web"]}}]},
            "exceptions": [{"policyName": "checked", "ruleNames": ["rule"]}],
            **spec,
        },
    }


@pytest.mark.parametrize(
    ("spec", "status"),
    [
        ({}, "skip"),
        ({"match": {"any": [{"resources": {"names": ["other"]}}]}}, "fail"),
        ({"exceptions": [{"policyName": "checked", "ruleNames": ["other"]}]}, "fail"),
        ({"exceptions": [{"policyName": "checked", "ruleNames": ["ru*"]}]}, "skip"),
        ({"exceptions": [{"policyName": "team-a/checked", "ruleNames": ["rule"]}]}, "fail"),
        ({"conditions": conditions(all=[("{{ request.namespace }}", "Equals", "team-b")])}, "fail"),
        ({"conditions": conditions(all=[("{{ request.namespace }}", "Equals", "team-a")])}, "skip"),
    ],
)
def test_exceptions(spec: dict[str, Any], status: str) -> None:
    judging = Judging(Request(pod(), namespace="team-a"), (compile_exception(exception(**spec)),))
    (result,) = apply(compiled({"validate": {"deny": {}}}), judging).results
    assert result.status == status
    assert (result.message == 'skipped by the exception "mesh"') is (status == "skip")


def test_what_is_wrong_with_an_exception() -> None:
    with pytest.raises(InvalidPolicy) as raised:
        compile_exception(exception(podSecurity=[{"controlName": "x"}], match={"any": [{"resource": {}}]}))
    assert [flaw.pointer for flaw in raised.value.flaws] == ["/spec/podSecurity", "/spec/match/any/0/resource"]


@pytest.mark.parametrize(
    ("fields", "old", "status"),
    [
        ({}, {"hostNetwork": True}, "skip"),  # failed alike before
        ({}, {"hostNetwork": False}, "fail"),
        ({"allowExistingViolations": False}, {"hostNetwork": True}, "fail"),
    ],
)
def test_an_update_that_leaves_a_violation_as_it_was(fields: dict[str, Any], old: dict[str, Any], status: str) -> None:
    policy = compiled({"validate": {"pattern": {"spec": {"=(hostNetwork)": False}}, **fields}})
    request = {"operation": "UPDATE", "old": pod(old)}
    assert only(policy, pod({"hostNetwork": True}), **request).status == status


def test_apply_rules_one_stops_after_the_first_that_applies() -> None:
    never = {"name": "a", "preconditions": conditions(all=[NO]), "validate": {"deny": {}}}
    rules = (never, {"name": "b", "validate": {"deny": {}}}, {"name": "c", "validate": {"deny": {}}})
    assert [result.rule for result in applied(compiled(*rules, applyRules="One"), pod()).results] == ["a", "b"]
    assert [result.rule for result in applied(compiled(*rules), pod()).results] == ["a", "b", "c"]


def test_mutations_come_first_each_on_what_the_one_before_made() -> None:
    policy = compiled(
        {"name": "check", "validate": {"pattern": {"metadata": {"labels": {"b": "1"}}}}},
        {"name": "one", "mutate": {"patchStrategicMerge": {"metadata": {"labels": {"a": "1"}}}}},
        {"name": "two", "mutate": {"patchStrategicMerge": {"metadata": {"labels": {
            "b": "{{ request.object.metadata.labels.a }}"}}}}},
    )  # fmt: skip
    resource = pod()
    response = applied(policy, resource)
    assert [(each.rule, each.status) for each in response.results] == [
        ("one", "pass"), ("two", "pass"), ("check", "pass"),
    ]  # fmt: skip
    assert response.resource is not None
    assert response.resource["metadata"]["labels"] == {"a": "1", "b": "1"}
    assert "labels" not in resource["metadata"]


@pytest.mark.parametrize(
    ("spec", "validate", "namespace", "action"),
    [
        ({}, {}, "x", "Audit"),
        ({"validationFailureAction": "enforce"}, {}, "x", "Enforce"),
        ({"validationFailureAction": "Enforce"}, {"failureAction": "Audit"}, "x", "Audit"),
        ({}, {"failureAction": "Enforce"}, "x", "Enforce"),
        ({"validationFailureActionOverrides": [{"action": "Enforce", "namespaces": ["ml-*"]}]}, {}, "ml-a", "Enforce"),
        ({"validationFailureActionOverrides": [{"action": "Enforce", "namespaces": ["ml-*"]}]}, {}, "x", "Audit"),
        (
            {"validationFailureActionOverrides": [{"action": "Enforce", "namespaces": ["ml-*"]}]},
            {"failureActionOverrides": [{"action": "Audit", "namespaces": ["ml-a"]}]},
            "ml-a",
            "Audit",
        ),
    ],
)
def test_the_action_of_a_failure(spec: dict[str, Any], validate: dict[str, Any], namespace: str, action: str) -> None:
    policy = compiled({"validate": {"deny": {}, **validate}}, **{"validationFailureAction": None, **spec})
    validation = policy.rules[0].validation
    assert validation is not None
    assert validation.action_in(namespace, {}) == action
