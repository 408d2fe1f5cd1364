"""JSON Patch with what Kyverno's library adds to it."""

from typing import Any

import pytest

from app.kyverno.mutation.json_patch import patched
from app.kyverno.types import RuleError


def op(name: str, path: str, value: Any = None, source: str | None = None) -> dict[str, Any]:
    """An operation."""
    return {"op": name, "path": path, "value": value, **({"from": source} if source else {})}


@pytest.mark.parametrize(
    ("document", "operation", "after"),
    [
        ({"a": 1}, op("add", "/b", 2), {"a": 1, "b": 2}),
        ({"a": 1}, op("add", "/a", 2), {"a": 2}),
        ({"a": [1, 2]}, op("add", "/a/-", 3), {"a": [1, 2, 3]}),
        ({"a": [1, 2]}, op("add", "/a/1", 3), {"a": [1, 3, 2]}),
        ({"a": [1, 2]}, op("add", "/a/2", 3), {"a": [1, 2, 3]}),
        ({"a": [1, 2]}, op("add", "/a/-1", 3), {"a": [1, 2, 3]}),
        ({"a": [1, 2]}, op("add", "/a/-2", 3), {"a": [1, 3, 2]}),
        ({}, op("add", "/a~1b/c~0d", 1), {"a/b": {"c~d": 1}}),
        # Parents that are missing.
        ({}, op("add", "/spec/tolerations/-", {"key": "a"}), {"spec": {"tolerations": [{"key": "a"}]}}),
        ({"spec": None}, op("add", "/spec/a", 1), {"spec": {"a": 1}}),
        ({}, op("add", "/a/0/b", 1), {"a": [{"b": 1}]}),
        ({}, op("add", "/a/2", 1), {"a": [None, None, 1]}),
        ({}, op("add", "/a/-1/b/-1", 1), {"a": [{"b": [1]}]}),
        ({"a": [{"b": [1]}]}, op("add", "/a/-1/b/-1", 2), {"a": [{"b": [1, 2]}]}),
        ({"a": []}, op("add", "/a/-/b", 1), {"a": [{"b": 1}]}),
        # What is not there is not removed, and that is no error.
        ({"a": 1, "b": 2}, op("remove", "/a"), {"b": 2}),
        ({"a": 1}, op("remove", "/b"), {"a": 1}),
        ({"a": 1}, op("remove", "/b/c/0"), {"a": 1}),
        ({"a": [1, 2, 3]}, op("remove", "/a/1"), {"a": [1, 3]}),
        ({"a": [1, 2, 3]}, op("remove", "/a/-1"), {"a": [1, 2]}),
        ({"a": [1]}, op("remove", "/a/7"), {"a": [1]}),
        ({"a": 1}, op("replace", "/a", [2]), {"a": [2]}),
        ({"a": [1, 2]}, op("replace", "/a/-1", 3), {"a": [1, 3]}),
        ({"a": 1}, op("move", "/b", source="/a"), {"b": 1}),
        ({"a": [1, 2]}, op("move", "/a/-", source="/a/0"), {"a": [2, 1]}),
        ({"a": {"b": 1}}, op("copy", "/c", source="/a"), {"a": {"b": 1}, "c": {"b": 1}}),
        ({"a": 1}, op("test", "/a", 1), {"a": 1}),
    ],
)
def test_an_operation(document: dict[str, Any], operation: dict[str, Any], after: dict[str, Any]) -> None:
    before = repr(document)
    assert patched(document, [operation]) == after
    assert repr(document) == before


@pytest.mark.parametrize(
    ("document", "operation", "message"),
    [
        ({"a": [1]}, op("add", "/a/3", 1), "the JSON patch cannot add /a/3: the list has 1 elements"),
        ({"a": [1]}, op("add", "/a/x", 1), "the JSON patch cannot add /a/x: the list has 1 elements"),
        ({"a": [1]}, op("add", "/a/01", 1), "the JSON patch cannot add /a/01: the list has 1 elements"),
        ({"a": 1}, op("add", "/a/b", 1), "the JSON patch cannot reach /a/b: there is nothing to go into at a"),
        ({}, op("add", "/a/-2", 1), "the JSON patch cannot make a list up to -2 in /a/-2"),
        ({}, op("add", "/a/99999", 1), "the JSON patch cannot make a list up to 99999 in /a/99999"),
        ({}, op("replace", "/a", 1), "the JSON patch does not apply: there is no /a"),
        ({}, op("replace", "/a/b", 1), "the JSON patch cannot reach /a/b: there is nothing to go into at a"),
        ({"a": [1]}, op("replace", "/a/1", 1), "the JSON patch does not apply: there is no /a/1"),
        ({"a": 1}, op("test", "/a", True), "the test of /a in the JSON patch does not hold"),
        ({}, op("copy", "/a", source="/b"), "the JSON patch does not apply: there is no /b"),
        ({}, op("merge", "/a"), 'the JSON patch has an operation "merge"'),
        ({}, op("add", "a", 1), 'the JSON patch has no path that starts with "/": a'),
        ({}, op("remove", ""), 'the JSON patch has no path that starts with "/": '),
    ],
)
def test_what_cannot_be_done(document: dict[str, Any], operation: dict[str, Any], message: str) -> None:
    with pytest.raises(RuleError) as caught:
        patched(document, [operation])
    assert str(caught.value) == message


def test_operations_come_one_after_the_other_and_share_nothing() -> None:
    value = {"k": 1}
    after = patched({}, [op("add", "/a", value), op("copy", "/b", source="/a"), op("add", "/a/k", 2)])
    assert after == {"a": {"k": 2}, "b": {"k": 1}}
    assert value == {"k": 1}
