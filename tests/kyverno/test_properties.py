"""Whatever is written, and whatever it is asked of: an answer, or one of the errors that are meant for it."""

from contextlib import suppress
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from app.kyverno.expressions import EvaluationError, Expression, InvalidExpression, Scope
from app.kyverno.expressions.functions import _table
from app.kyverno.mutation.json_patch import OPERATIONS, patched
from app.kyverno.mutation.merging import merged
from app.kyverno.mutation.overlay import resolved
from app.kyverno.mutation.schema import schema_of
from app.kyverno.types import RuleError

DATA: Final = {"a": {"b": [1, "x", None, {"a": 2}]}, "b": "text", "c": [{"a": 1}, {"b": []}], "d": 1.5}
VALUES: Final = (
    "a", "b", "@", "&a", "a.b", "c[].a", "`0`", "`-5`", "`0.5`", "`1e308`", "`null`", "`true`", "`[]`", '`["a"]`',
    "`{}`", "''", "'x'", "'1Gi'", "'5m'", "'-1h'", "'1e3'", "'2021-01-02T15:04:05Z'", "'9999-12-31T23:59:59Z'",
    "'>=1.0.0'", "'(a'",
)  # fmt: skip
TOKENS: Final = (
    *VALUES,
    "*",
    "[",
    "]",
    "[?",
    "(",
    ")",
    "{",
    "}",
    ":",
    ".",
    "||",
    "&&",
    "|",
    "!",
    "==",
    "<",
    "&",
    ",",
    "[0]",
)
CALLS = st.builds(
    lambda name, arguments: f"{name}({', '.join(arguments)})",
    st.sampled_from(sorted(_table())),
    st.lists(st.sampled_from(VALUES), max_size=4),
)
EXPRESSIONS = CALLS | st.lists(st.sampled_from(TOKENS) | CALLS, min_size=1, max_size=8).map("".join)


@given(EXPRESSIONS)
@settings(max_examples=400, deadline=None)
def test_an_expression_has_a_value_or_an_error(text: str) -> None:
    try:
        expression = Expression(text)
    except InvalidExpression:
        return
    before = deepcopy(DATA)
    with suppress(EvaluationError):
        expression.search(DATA, Scope(datetime(2026, 1, 1, tzinfo=UTC)))
    assert before == DATA


KEYS: Final = ("spec", "containers", "name", "ports", "containerPort", "finalizers", "a", "$patch")
PLAIN = st.sampled_from(KEYS)
ANCHORED = PLAIN | PLAIN.map("({})".format) | PLAIN.map("+({})".format) | PLAIN.map("<({})".format)
SCALARS = st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["", "a", "*", "delete"])


def documents(keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=12
    )


def pods(keys: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    pod = {"apiVersion": st.just("v1"), "kind": st.just("Pod"), "metadata": documents(keys), "spec": documents(keys)}
    return st.fixed_dictionaries(pod)


@given(pods(PLAIN), pods(ANCHORED))
@settings(max_examples=200, deadline=None)
def test_a_strategic_merge_changes_nothing_but_its_result(pod: dict[str, Any], patch: dict[str, Any]) -> None:
    before = deepcopy((pod, patch))
    with suppress(RuleError):
        merged(pod, resolved(patch, pod), schema_of(pod))
    assert before == (pod, patch)


PATHS = st.lists(st.sampled_from(("spec", "a", "name", "0", "-1", "-", "7", "")), min_size=1, max_size=4).map(
    lambda tokens: "/" + "/".join(tokens)
)
OPERATION = st.fixed_dictionaries(
    {"op": st.sampled_from(OPERATIONS), "path": PATHS, "from": PATHS, "value": documents(PLAIN)}
)


@given(pods(PLAIN), st.lists(OPERATION, max_size=3))
@settings(max_examples=200, deadline=None)
def test_a_json_patch_changes_nothing_but_its_result(pod: dict[str, Any], operations: list[dict[str, Any]]) -> None:
    before = deepcopy((pod, operations))
    with suppress(RuleError):
        patched(pod, operations)
    assert before == (pod, operations)
