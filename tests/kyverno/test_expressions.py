"""What expressions mean: JMESPath as Kyverno has it, where a missing field is an error."""

from typing import Any

import pytest

from app.kyverno.expressions import EvaluationError, Expression, InvalidExpression, NotFound
from tests.kyverno.evaluating import evaluated

POD = {
    "request": {
        "object": {
            "metadata": {"name": "a", "labels": {"app": "web", "empty": ""}, "annotations": None},
            "spec": {
                "containers": [
                    {"name": "one", "resources": {"requests": {"nvidia.com/gpu": 1}}, "ports": [{"p": 1}, {"p": 2}]},
                    {"name": "two", "ports": []},
                ]
            },
        }
    }
}


@pytest.mark.parametrize(
    ("expression", "missing"),
    [
        ("nothing", "nothing"),
        ("nothing.more", "nothing"),
        ("request.object.metadata.labels.tier", "tier"),
        ("request.object.metadata.labels.tier | [0]", None),
        ("request.object.spec.containers[0].image", "image"),
        ("request && nothing", "nothing"),
    ],
)
def test_a_missing_field_is_an_error(expression: str, missing: str | None) -> None:
    if missing is None:
        assert evaluated(expression, POD) is None
        return
    with pytest.raises(NotFound) as caught:
        evaluated(expression, POD)
    assert caught.value.field == missing
    assert str(caught.value) == f'there is no field "{missing}"'


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        # What takes a missing field for null.
        ("nothing || 'x'", "x"),
        ("nothing.more || nothing || `3`", 3),
        ("nothing || nothing", None),
        ("nothing && 'x'", None),
        ("!nothing", True),
        ("nothing == `null`", True),
        ("nothing != 'a'", True),
        ("nothing < `1`", None),
        ("[nothing, request.object.metadata.name]", [None, "a"]),
        ("{a: nothing}", {"a": None}),
        ("to_string(nothing)", "null"),
        ("nothing | type(@)", "null"),
        ("nothing[]", None),
        ("nothing[*].a", None),
        ("nothing.*", None),
        ("nothing[?a].b", None),
        ("request.object.spec.containers[].image", []),
        ("request.object.spec.containers[?image]", []),
        # Null and other kinds have no fields, and that is no error.
        ("request.object.metadata.annotations.x.y", None),
        ("request.object.metadata.name.x", None),
        ("request.object.spec.containers.x", None),
        ("request.object.spec.containers[7].name", None),
        ("request.object.metadata.name[0]", None),
        # Projections.
        ("request.object.spec.containers[].name", ["one", "two"]),
        ("request.object.spec.containers[*].name", ["one", "two"]),
        ("request.object.spec.containers[].ports[].p", [1, 2]),
        ("request.object.spec.containers[*].ports[*].p", [[1, 2], []]),
        ("request.object.spec.containers[-1].name", "two"),
        ("request.object.spec.containers[:1].name", ["one"]),
        ("request.object.spec.containers[::-1].name", ["two", "one"]),
        ("request.object.spec.containers[?name=='two'].name | [0]", "two"),
        ("request.object.metadata.labels.*", ["web", ""]),
        ("request.object.[spec,metadata][*].containers[].name", ["one", "two"]),
        ("request.object.spec.containers[].resources.requests.\"nvidia.com/gpu\" || ''", [1]),
        ("request.object.metadata.labels.empty || 'default'", "default"),
        # Comparisons.
        ("`1` == `1.0`", True),
        ("`1` == `true`", False),
        ("`[1]` == `[true]`", False),
        ('`{"a": [0]}` == `{"a": [false]}`', False),
        ("'1' == `1`", False),
        ("`2` > `1`", True),
        ("'b' > 'a'", None),
        ("`true` > `0`", None),
        # Truth.
        ("`0` || 'x'", 0),
        ("`[]` || 'x'", "x"),
        ("`{}` && 'x'", {}),
        ("!`0`", False),
        # Literals.
        ("'it\\'s'", "it's"),
        ('`"a"`', "a"),
        ("`[1, {}]`", [1, {}]),
        ("@", POD),
    ],
)
def test_the_value(expression: str, value: Any) -> None:
    assert evaluated(expression, POD) == value


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "the expression is empty"),
        ("a.", "the expression ends too early"),
        ("foo(", "the expression ends too early"),
        ("a b", '"b" is not expected there'),
        ("a]", '"]" is not expected there'),
        ("a = b", "Unknown token '=' at character 3"),
        ("nvidia.com/gpu", "Unknown token / at character 11"),
        ("'open", "Unclosed ' delimiter at character 1"),
        ("`foo`", "`foo` is not JSON; text is written 'foo'"),
        ("`NaN`", "`NaN` is not JSON; text is written 'NaN'"),
        ("a[::0]", "a slice cannot have the step 0"),
        ("to_uper('a')", 'there is no function "to_uper"; did you mean "to_upper"?'),
        ("quux(a)", 'there is no function "quux"'),
        ("to_upper('a', 'b')", "to_upper() takes 1 argument, found 2"),
        ("split('a')", "split() takes 2 arguments, found 1"),
        ("merge()", "merge() takes 1 or more arguments, found 0"),
        ("sort_by(a, b)", "sort_by(): argument 2 must be an expression (&...)"),
        ("length(&a)", "length(): argument 1 cannot be an expression"),
        (
            "random('[a-z]{5}')",
            "the function random() is not supported: its answer differs each time, so no verdict could be repeated",
        ),
        ("x509_decode(a)", "the function x509_decode() is not supported: certificates are not looked into"),
        ("regex_match('(a', b)", 'regex_match(): "(a" is no regular expression: missing ): (a'),
        ("regex_match('a(?=b)', b)", 'regex_match(): "a(?=b)" is no regular expression: invalid perl operator: (?='),
        ("a" * 10_001, "the expression is longer than 10000 characters"),
        ("(" * 65 + "a" + ")" * 65, None),
        ("!" * 65 + "a", "the expression is nested more than 64 levels deep"),
        ("(" * 4000 + "a" + ")" * 4000, "the expression is nested more than 64 levels deep"),
        ("[" * 4000, "the expression is nested more than 64 levels deep"),
    ],
)
def test_what_is_no_expression(expression: str, message: str | None) -> None:
    if message is None:  # parentheses leave no trace in the tree
        assert evaluated(expression, {"a": 1}) == 1
        return
    with pytest.raises(InvalidExpression) as caught:
        Expression(expression)
    assert str(caught.value) == message


def test_a_value_that_a_function_does_not_take_is_an_error() -> None:
    with pytest.raises(EvaluationError, match=r"^to_upper\(\): argument 1 is null, not string$"):
        evaluated("to_upper(nothing)")


@pytest.mark.parametrize(
    ("expression", "fields"),
    [
        ("request.object.spec", {"request"}),
        ("element.name || 'x'", {"element"}),
        ("request.containers[?name == 'x'].image | [0]", {"request"}),
        ("sort_by(request.items, &name)[*].name", {"request"}),
        ("to_upper(element) == request.name", {"element", "request"}),
        ("{a: b, c: [d]}", {"b", "d"}),
        ("`1`", set()),
    ],
)
def test_the_names_that_it_starts_from(expression: str, fields: set[str]) -> None:
    assert Expression(expression).fields == fields


def test_the_data_is_not_changed() -> None:
    data = {"a": [3, 1, 2], "b": {"x": 1}}
    evaluated("[sort(a), reverse(a), merge(b, `{}`), items(b, 'k', 'v')]", data)
    assert data == {"a": [3, 1, 2], "b": {"x": 1}}
