"""Rules that mutate: patches with variables in them, and foreach."""

from typing import Any

import pytest

from app.kyverno.policy import compile_policy
from app.kyverno.types import InvalidPolicy
from tests.kyverno.judging import applied, compiled, pod, policy

TWO = {"containers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}]}


def mutated(mutate: dict[str, Any], resource: dict[str, Any], **rule: Any) -> tuple[str, Any]:
    """The status of a rule that mutates, and the spec of what comes out."""
    response = applied(compiled({"mutate": mutate, **rule}), resource)
    (result,) = response.results
    assert response.resource is not None
    return result.status, response.resource["spec"]


def test_a_strategic_merge_with_variables() -> None:
    patch = {"spec": {"nodeSelector": {"team": "{{ request.namespace }}", "app": "{{ request.object.metadata.name }}"}}}
    assert mutated({"patchStrategicMerge": patch}, pod({"containers": []})) == (
        "pass",
        {"containers": [], "nodeSelector": {"team": "team-a", "app": "web"}},
    )


def test_a_patch_that_changes_nothing_is_skipped() -> None:
    assert mutated({"patchStrategicMerge": {"spec": {"hostPID": False}}}, pod({"hostPID": False})) == (
        "skip",
        {"hostPID": False},
    )


def test_true_is_not_one() -> None:
    assert mutated({"patchStrategicMerge": {"spec": {"a": True}}}, pod({"a": 1})) == ("pass", {"a": True})


def test_the_current_value() -> None:
    patch = {"spec": {"containers": [{"(name)": "*", "image": "mirror/{{ @ }}"}]}}
    status, spec = mutated({"patchStrategicMerge": patch}, pod({"containers": [{"name": "a", "image": "a:1"}]}))
    assert (status, spec["containers"]) == ("pass", [{"name": "a", "image": "mirror/a:1"}])


def test_a_variable_that_is_missing_is_an_error_and_changes_nothing() -> None:
    patch = {"spec": {"a": "{{ request.object.metadata.labels.nothing }}"}}
    assert mutated({"patchStrategicMerge": patch}, pod({})) == ("error", {})


@pytest.mark.parametrize(
    ("text", "spec", "after"),
    [
        ("- {op: add, path: /spec/x, value: 1}", {}, {"x": 1}),
        ('[{"op": "add", "path": "/spec/x", "value": {"y": [1]}}]', {}, {"x": {"y": [1]}}),
        ("- op: add\n  path: /spec/tolerations/-\n  value:\n    key: a\n", {}, {"tolerations": [{"key": "a"}]}),
        # A variable is a value, or a part of a text.
        ('- {op: add, path: /spec/x, value: "{{ request.namespace }}"}', {}, {"x": "team-a"}),
        ("- {op: add, path: /spec/x, value: in-{{ request.namespace }}}", {}, {"x": "in-team-a"}),
        (
            "- op: add\n  path: /spec/x\n  value: {{ request.object.spec.n }}",
            {"n": {"m": 1}},
            {"n": {"m": 1}, "x": {"m": 1}},
        ),
        ("- {op: add, path: /spec/x, value: '{{ request.object.spec.n }}'}", {"n": 3}, {"n": 3, "x": "3"}),
        ("- op: add\n  path: /spec/x\n  value: {{ request.object.spec.n }}", {"n": 3}, {"n": 3, "x": 3}),
        ("- op: add\n  path: /spec/x\n  value: {{ request.object.spec.n }}", {"n": "true"}, {"n": "true", "x": True}),
        ("- op: remove\n  path: /spec/{{ request.namespace }}", {"team-a": 1, "b": 2}, {"b": 2}),
    ],
)
def test_a_json_patch(text: str, spec: dict[str, Any], after: dict[str, Any]) -> None:
    assert mutated({"patchesJson6902": text}, pod(spec)) == ("pass", after)


def test_a_value_cannot_add_operations_of_its_own() -> None:
    text = "- op: add\n  path: /spec/x\n  value: {{ request.object.spec.evil }}"
    evil = 'a"\n- op: add\n  path: /spec/hostPID\n  value: true'
    assert mutated({"patchesJson6902": text}, pod({"evil": evil})) == ("pass", {"evil": evil, "x": evil})


def test_a_json_patch_that_does_not_apply_is_an_error() -> None:
    assert mutated({"patchesJson6902": "- {op: replace, path: /spec/x, value: 1}"}, pod({})) == ("error", {})


def test_foreach_with_a_json_patch_goes_forwards_with_an_index() -> None:
    value = "{name: I, value: '{{ element.image }}'}"
    patch = f"- {{op: add, path: '/spec/containers/{{{{elementIndex}}}}/env/-', value: {value}}}"
    entry = {"list": "request.object.spec.containers", "patchesJson6902": patch}
    status, spec = mutated({"foreach": [entry]}, pod(TWO))
    assert status == "pass"
    assert [each["env"] for each in spec["containers"]] == [
        [{"name": "I", "value": "a:1"}],
        [{"name": "I", "value": "b:1"}],
    ]


def test_foreach_with_a_strategic_merge_keeps_the_order() -> None:
    patch = {"spec": {"containers": [{"(name)": "{{ element.name }}", "tty": True}]}}
    entry = {"list": "request.object.spec.containers", "patchStrategicMerge": patch}
    status, spec = mutated({"foreach": [entry]}, pod(TWO))
    assert (status, [each["name"] for each in spec["containers"]]) == ("pass", ["a", "b"])
    assert all(each["tty"] for each in spec["containers"])
    status, spec = mutated({"foreach": [{**entry, "order": "Ascending"}]}, pod(TWO))
    assert [each["name"] for each in spec["containers"]] == ["b", "a"]


def test_foreach_downwards_can_remove_by_index() -> None:
    entry = {
        "list": "request.object.spec.volumes",
        "order": "Descending",
        "preconditions": {"all": [{"key": "{{ element.name }}", "operator": "Equals", "value": "x*"}]},
        "patchesJson6902": "- {op: remove, path: '/spec/volumes/{{elementIndex}}'}",
    }
    status, spec = mutated({"foreach": [entry]}, pod({"volumes": [{"name": "x1"}, {"name": "y"}, {"name": "x2"}]}))
    assert (status, spec) == ("pass", {"volumes": [{"name": "y"}]})


def test_an_entry_of_foreach_sees_what_the_one_before_it_made() -> None:
    first = {"list": "request.object.spec.l", "patchesJson6902": "- {op: add, path: /spec/l/-, value: new}"}
    second = {
        "list": "request.object.spec.l",
        "patchesJson6902": "- {op: add, path: '/spec/seen/-', value: '{{element}}'}",
    }
    status, spec = mutated({"foreach": [first, second]}, pod({"l": ["a", "b"]}))
    assert (status, spec["seen"]) == ("pass", ["a", "b", "new", "new"])


def test_foreach_inside_foreach_counts_by_depth() -> None:
    inner = {
        "list": "element.mounts",
        "patchesJson6902": "- {op: add, path: /spec/seen/-, value: '{{elementIndex0}}.{{elementIndex1}} {{element}}'}",
    }
    spec = {"c": [{"mounts": ["p", "q"]}, {"mounts": ["r"]}]}
    status, after = mutated({"foreach": [{"list": "request.object.spec.c", "foreach": [inner]}]}, pod(spec))
    assert (status, after["seen"]) == ("pass", ["0.0 p", "0.1 q", "1.0 r"])


@pytest.mark.parametrize(
    ("listed", "status"),
    [
        ("request.object.spec.nothing", "error"),
        ("request.object.spec.nothing[]", "skip"),
        ("request.object.spec.nothing || `[]`", "skip"),
        ("request.object.spec.one", "pass"),
    ],
)
def test_the_list_of_foreach(listed: str, status: str) -> None:
    entry = {"list": listed, "patchesJson6902": "- {op: add, path: /spec/x, value: 1}"}
    assert mutated({"foreach": [entry]}, pod({"one": {"a": 1}}))[0] == status


def test_an_error_of_one_element_is_that_of_the_rule() -> None:
    entry = {"list": "request.object.spec.l", "patchesJson6902": "- {op: replace, path: '/spec/{{element}}', value: 1}"}
    assert mutated({"foreach": [entry]}, pod({"l": ["a", "none"], "a": 0})) == ("error", {"l": ["a", "none"], "a": 0})


def test_a_rule_sees_what_the_one_before_it_made() -> None:
    rules = (
        {"name": "first", "mutate": {"patchStrategicMerge": {"spec": {"a": "1"}}}},
        {"name": "second", "mutate": {"patchStrategicMerge": {"spec": {"b": "{{ request.object.spec.a }}"}}}},
    )
    response = applied(compiled(*rules), pod({}))
    assert response.resource is not None
    assert response.resource["spec"] == {"a": "1", "b": "1"}


@pytest.mark.parametrize(
    ("mutate", "pointer", "message"),
    [
        ({}, "", "mutate needs one of foreach, patchStrategicMerge, patchesJson6902; it has none"),
        (
            {"patchStrategicMerge": {"a": 1}, "patchesJson6902": "[]"},
            "",
            (
                "mutate needs one of foreach, patchStrategicMerge, patchesJson6902; "
                "it has patchStrategicMerge and patchesJson6902"
            ),
        ),
        ({"patchStrategicMerge": []}, "/patchStrategicMerge", "patchStrategicMerge must be an object, found a list"),
        (
            {"patchStrategicMerge": {"spec": {"=(a)": 1}}},
            "/patchStrategicMerge/spec/=(a)",
            "the anchor =(a) has no meaning in a patch; there are (key), <(key) and +(key)",
        ),
        (
            {"patchStrategicMerge": {"a": {"$patch": "drop"}}},
            "/patchStrategicMerge/a/$patch",
            '$patch cannot be "drop"; it must be one of merge, replace, delete',
        ),
        (
            {"patchStrategicMerge": {"$setElementOrder/containers": []}},
            "/patchStrategicMerge/$setElementOrder~1containers",
            "the directive $setElementOrder/containers is not supported",
        ),
        (
            {"patchesJson6902": [{}]},
            "/patchesJson6902",
            "patchesJson6902 must be text: a JSON patch written as YAML or JSON",
        ),
        ({"patchesJson6902": "a: ["}, "/patchesJson6902", None),
        ({"patchesJson6902": "a: 1"}, "/patchesJson6902", "patchesJson6902 must be a list, found an object"),
        (
            {"patchesJson6902": "- 1"},
            "/patchesJson6902",
            "operation 1 of the JSON patch must be an object, found a number",
        ),
        (
            {"patchesJson6902": "- {op: ad, path: /a, value: 1}"},
            "/patchesJson6902",
            'operation 1 of the JSON patch cannot be "ad"; did you mean add?',
        ),
        (
            {"patchesJson6902": "- {op: add, path: a, value: 1}"},
            "/patchesJson6902",
            'operation 1 of the JSON patch needs a path that starts with "/"',
        ),
        (
            {"patchesJson6902": "- {op: add, path: /a}"},
            "/patchesJson6902",
            "operation 1 of the JSON patch needs a value",
        ),
        (
            {"patchesJson6902": "- {op: move, path: /a}"},
            "/patchesJson6902",
            'operation 1 of the JSON patch needs a from that starts with "/"',
        ),
        (
            {"patchesJson6902": "- {op: add, path: /a, value: 1, pth: /b}"},
            "/patchesJson6902",
            'operation 1 of the JSON patch has no field "pth"; did you mean path?',
        ),
        ({"targets": [{"kind": "Pod"}], "patchStrategicMerge": {}}, "/targets", None),
        (
            {"foreach": [{"patchesJson6902": "[]"}]},
            "/foreach/0/list",
            "an entry of foreach needs a list: a JMESPath expression",
        ),
        (
            {"foreach": [{"list": "a", "order": "Up", "patchStrategicMerge": {}}]},
            "/foreach/0/order",
            'order cannot be "Up"; it must be one of Ascending, Descending',
        ),
        (
            {"foreach": [{"list": "request"}]},
            "/foreach/0",
            "an entry of foreach needs one of foreach, patchStrategicMerge, patchesJson6902; it has none",
        ),
        (
            {"foreach": [{"list": "request", "patchStrategicMerge": {"a": "{{ elem }}"}}]},
            "/foreach/0/patchStrategicMerge/a",
            '{{ elem }} names "elem", which is no variable here',
        ),
    ],
)
def test_what_is_no_mutation(mutate: dict[str, Any], pointer: str, message: str | None) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        compile_policy(policy({"mutate": mutate}))
    flaws = [flaw for flaw in caught.value.flaws if flaw.pointer == f"/spec/rules/0/mutate{pointer}"]
    assert flaws
    assert message is None or [flaw.message for flaw in flaws] == [message]
