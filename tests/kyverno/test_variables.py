"""Variables: what they are, what becomes of them in texts, and what is not found."""

from typing import Any

import pytest

from app.kyverno.templates import Compiler
from app.kyverno.types import Flaw
from tests.kyverno.judging import applied, compiled, only, pod

TRUE = {"operator": "Equals", "value": True}


def rendered(template: Any, resource: dict[str, Any], **request: Any) -> Any:
    """What becomes of a document: seen through the message of a rule that always fails."""
    policy = compiled({"validate": {"message": template, "deny": {}}})
    result = only(policy, resource, **request)
    assert result.status == "fail"
    return result.message


LABELLED = pod(labels={"app": "x", "n": "1"}, annotations={"a/b": "c"})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("plain", "plain"),
        ("{{ request.object.metadata.name }}", "web"),
        ("{{request.object.metadata.name}}", "web"),
        ("name {{ request.object.metadata.name }} of {{ request.namespace }}.", "name web of team-a."),
        ("{{ request.object.metadata.labels }}", '{"app":"x","n":"1"}'),
        ("labels {{ request.object.metadata.labels }}", 'labels {"app":"x","n":"1"}'),
        ('{{ request.object.metadata.annotations."a/b" }}', "c"),
        ("{{ request.object.metadata.missing || 'none' }}", "none"),
        ("{{ length('{{ request.object.metadata.name }}') }} letters", "3 letters"),
        ("{{ request.object.{name: metadata.name} }} and {x}", '{"name":"web"} and {x}'),
        ("\\{{ request.object }} stays", "{{ request.object }} stays"),
        ("{{ unclosed", "{{ unclosed"),
        ("closed }} only", "closed }} only"),
        ("{{ request.operation }}", "CREATE"),
        ("{{ images.containers.web.registry }}/{{ images.containers.web.tag }}", "docker.io/1"),
        ("[{{ serviceAccountName }}]", "[]"),
    ],
)
def test_texts(text: str, found: str) -> None:
    assert rendered(text, LABELLED) == found


def test_the_account_that_asks() -> None:
    user = {"userInfo": {"username": "system:serviceaccount:ci:deployer"}}
    text = "{{ serviceAccountNamespace }}/{{ serviceAccountName }} {{ request.userInfo.username }}"
    assert rendered(text, pod(), attributes=user) == "ci/deployer system:serviceaccount:ci:deployer"


def test_on_a_deletion_the_object_is_the_old_one() -> None:
    policy = compiled({"validate": {"message": "{{ request.object.metadata.name }}", "deny": {}}})
    (result,) = applied(policy, None, old=pod(), operation="DELETE").results  # type: ignore[arg-type]
    assert result.message == "web"


def test_what_a_variable_brings_is_no_variable() -> None:
    """It comes from whoever makes the pod, who would learn what only the policy may ask."""
    resource = pod(annotations={"note": "{{ request.userInfo }}"})
    assert rendered("note: {{ request.object.metadata.annotations.note }}", resource) == "note: {{ request.userInfo }}"


def condition(key: Any, value: Any = True) -> dict[str, Any]:
    return {"validate": {"deny": {"conditions": {"all": [{"key": key, "operator": "Equals", "value": value}]}}}}


def test_a_lone_variable_keeps_its_type() -> None:
    assert (
        only(compiled(condition("{{ request.object.spec.hostNetwork }}")), pod({"hostNetwork": True})).status == "fail"
    )
    assert (
        only(compiled(condition("{{ request.object.spec.hostNetwork }} ")), pod({"hostNetwork": True})).status == "pass"
    )


def test_a_field_that_is_not_there_is_an_error_and_no_null() -> None:
    result = only(compiled(condition("{{ request.object.spec.hostNetwork }}")), pod())
    assert (result.status, 'there is no field "hostNetwork"' in result.message) == ("error", True)
    assert only(compiled(condition("{{ request.object.spec.hostNetwork || `false` }}")), pod()).status == "pass"


def with_context(*entries: dict[str, Any], message: str = "{{ x }}") -> dict[str, Any]:
    return {"context": list(entries), "validate": {"message": message, "deny": {}}}


def variable(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "variable": fields}


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"value": "a"}, "a"),
        ({"value": {"a": ["b"]}, "jmesPath": "a[0]"}, "b"),
        ({"value": {"a": "b"}, "jmesPath": "missing", "default": "c"}, "c"),
        ({"jmesPath": "request.object.metadata.name"}, "web"),
        ({"jmesPath": "request.object.metadata.missing", "default": "c"}, "c"),
        ({"jmesPath": "request.object.metadata.{{ request.operation == 'CREATE' && 'name' }}"}, "web"),
        ({"value": "{{ request.namespace }}!"}, "team-a!"),
    ],
)
def test_variables_of_a_context(fields: dict[str, Any], found: str) -> None:
    assert only(compiled(with_context(variable("x", **fields))), pod()).message == found


def test_a_variable_is_found_only_where_it_is_asked_for() -> None:
    unused = variable("unused", jmesPath="request.object.no.such.field")
    assert only(compiled(with_context(unused, variable("x", value="a"))), pod()).message == "a"
    result = only(compiled(with_context(unused, message="{{ unused }}")), pod())
    assert "its message cannot be filled in: the variable unused cannot be found" in result.message


def test_a_later_entry_of_the_same_name_builds_on_the_earlier() -> None:
    policy = compiled(with_context(variable("x", value="a"), variable("x", jmesPath="join('', [x, 'b'])")))
    assert only(policy, pod()).message == "ab"


def test_a_reference_stands_for_another_place_of_the_pattern() -> None:
    pattern = {"spec": {"containers": [{"resources": {"requests": {"memory": "$(<=./../../limits/memory)"},
                                                      "limits": {"memory": "2Gi"}}}]}}  # fmt: skip
    policy = compiled({"validate": {"pattern": pattern}})

    def status(request: str) -> str:
        resources = {"requests": {"memory": request}, "limits": {"memory": "2Gi"}}
        return only(policy, pod({"containers": [{"name": "a", "resources": resources}]})).status

    assert (status("1Gi"), status("3Gi")) == ("pass", "fail")


def test_patterns_with_variables_are_filled_in_for_each_resource() -> None:
    policy = compiled({"validate": {"pattern": {"metadata": {"labels": {"{{ request.namespace }}": "?*"}}}}})
    assert only(policy, pod(labels={"team-a": "x"})).status == "pass"
    assert only(policy, pod(labels={"team-b": "x"})).status == "fail"


def test_many_braces_take_no_time() -> None:
    flaws: list[Flaw] = []
    text = "{{" * 4000
    assert Compiler(flaws).text(text, "").render(None) == text  # type: ignore[arg-type]
    assert not flaws


def test_values_from_outside_stand_in_for_what_would_be_found() -> None:
    rule = with_context({"name": "x", "configMap": {"name": "a"}}, message="{{ x.data.region }}")
    from app.kyverno.policy import compile_policy
    from tests.kyverno.judging import policy

    given = compile_policy(policy(rule), values_given=True)
    assert only(given, pod(), values={"rule": {"x.data.region": "eu"}}).message == "eu"
    assert "comes from a configMap, and is not given" in only(given, pod()).message
