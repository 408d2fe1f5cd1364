"""The building blocks of conditions."""

import pytest

from app.model import cel
from app.model.gpu import Names


def test_literals_are_quoted() -> None:
    assert cel.text('a"b\\c\n') == '"a\\"b\\\\c\\n"'
    assert cel.text("grün 🙂") == '"grün 🙂"'
    assert cel.texts(["b", "a", "b"]) == '["a", "b"]'


def test_conditions_are_grouped_where_they_must_be() -> None:
    assert cel.all_of("a || b", "c", "d && e") == "(a || b) && c && d && e"
    assert cel.any_of(["a && b", "c", "c", "d || e"]) == "(a && b) || c || d || e"
    assert cel.any_of(["a && b"]) == "a && b"
    assert cel.any_of([]) == "false"


@pytest.mark.parametrize("condition", ["f(a || b)", "[a || b]", 'x == "a || b"', 'x == "\\"|| (" && y', "m{a || b}"])
def test_what_is_inside_something_is_not_grouped(condition: str) -> None:
    assert cel.all_of(condition, "c") == f"{condition} && c"


def test_lines() -> None:
    assert cel.lines(["a || b", cel.any_line(["c && d", "e"])]) == "(a || b) &&\n(\n  (c && d) ||\n  e\n)"


def test_every_optional_step_of_a_path_is_tested() -> None:
    assert cel.present("spec.a.b") == "has(object.spec.a) && has(object.spec.a.b)"
    assert cel.present("resources.requests", "c") == "has(c.resources) && has(c.resources.requests)"


def test_names() -> None:
    assert cel.named("v", Names(["a"])) == 'v == "a"'
    assert cel.named("v", Names(["b", "a"])) == 'v in ["a", "b"]'
    assert cel.named("v", Names(["b", "c*", "a*"])) == 'v.startsWith("a") || v.startsWith("c") || v == "b"'
    assert cel.named("v", Names([])) == "false"


def test_few_exact_keys_are_looked_up_and_all_others_compared() -> None:
    few = cel.has_key("spec.nodeSelector", Names(["b", "a"]))
    assert (
        few == 'has(object.spec.nodeSelector) && ("a" in object.spec.nodeSelector || "b" in object.spec.nodeSelector)'
    )
    prefixed = cel.has_key("metadata.annotations", Names(["a*"]))
    assert prefixed.endswith('object.metadata.annotations.exists(k, k.startsWith("a"))')
    many = cel.has_key("resources.requests", Names(["x/a", "x/b", "x/c", "x/d"]), "c")
    assert many.endswith('.exists(k, k.contains("/") && k in ["x/a", "x/b", "x/c", "x/d"])')
    unqualified = cel.has_key("resources.requests", Names(["a*"]), "c")
    assert "contains" not in unqualified


def test_containers() -> None:
    assert list(cel.containers("c.x")) == [
        "object.spec.containers != null && object.spec.containers.exists(c, c.x)",
        "has(object.spec.initContainers) && object.spec.initContainers.exists(c, c.x)",
        "has(object.spec.ephemeralContainers) && object.spec.ephemeralContainers.exists(c, c.x)",
    ]
