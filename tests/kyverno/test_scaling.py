"""What a pod holds cannot make judging it take long: the work grows with the size of the pod, not with its square."""

from collections.abc import Callable
from copy import deepcopy
from sys import getrefcount
from time import process_time
from typing import Any

import pytest

from app.kyverno.mutation.json_patch import patched
from app.kyverno.operators import OPERATORS
from app.kyverno.values import duration, quantity
from tests.kyverno.evaluating import evaluated
from tests.kyverno.judging import applied, compiled, pod

_FEW, _MANY = 200, 1600
_MOST = 24
"""Eight times as much takes eight times as long, and 64 times if each element is looked at for each."""

ENV = "request.object.spec.containers[].env[]"


def _spent(call: Callable[[], Any]) -> float:
    start = process_time()
    call()
    return process_time() - start


def growth(of: Callable[[int], Callable[[], Any]]) -> float:
    """How many times as long the call for eight times as much takes; the least of three pairs."""
    few, many = of(_FEW), of(_MANY)
    few(), many()
    return min(_spent(many) / sum(_spent(few) for _ in range(4)) * 4 for _ in range(3))


def crowded(count: int) -> dict[str, Any]:
    """A pod with so many variables."""
    env = [{"name": f"VARIABLE_{number}", "value": f"{number}"} for number in range(count)]
    return pod({"containers": [{"name": "web", "image": "nginx:1", "env": env}]})


def conditions(key: str, operator: str, value: Any) -> dict[str, Any]:
    """A denial by one condition."""
    return {"deny": {"conditions": {"any": [{"key": key, "operator": operator, "value": value}]}}}


_RULES: dict[str, dict[str, Any]] = {
    "each variable is checked": {
        "validate": {
            "message": "no",
            "foreach": [{"list": ENV, **conditions("{{ element.name }}", "Equals", "FORBIDDEN")}],
        }
    },
    "a label for each variable": {
        "mutate": {
            "foreach": [
                {
                    "list": ENV,
                    "patchesJson6902": "- {op: add, path: '/metadata/labels/l{{elementIndex}}', value: x}",
                }
            ]
        }
    },
    "each variable is replaced": {
        "mutate": {
            "foreach": [
                {
                    "list": ENV,
                    "patchesJson6902": "- {op: replace, path: '/spec/containers/0/env/{{elementIndex}}/value', value: x}",  # noqa: E501
                }
            ]
        }
    },
}


@pytest.mark.parametrize("rule", _RULES.values(), ids=list(_RULES))
def test_a_foreach_over_many_elements(rule: dict[str, Any]) -> None:
    policy = compiled(rule)

    def of(count: int) -> Callable[[], Any]:
        crowd = crowded(count)
        return lambda: applied(policy, crowd)

    assert growth(of) <= _MOST


@pytest.mark.parametrize("expression", ["[a-z]", "", "(a)(b)?"])
def test_replacing_many_matches_in_a_long_text(expression: str) -> None:
    def of(count: int) -> Callable[[], Any]:
        text = "ä" + "a" * (10 * count)
        return lambda: evaluated(f"regex_replace_all('{expression}', @, 'x')", text)

    assert growth(of) <= _MOST


@pytest.mark.parametrize("operator", ["AnyIn", "AllNotIn"])
def test_two_long_lists_held_against_each_other(operator: str) -> None:
    decide = OPERATORS[operator.lower()]

    def of(count: int) -> Callable[[], Any]:
        keys, values = [f"KEY_{number}" for number in range(count)], [f"value-{number}" for number in range(count)]
        return lambda: decide(keys, values)

    assert growth(of) <= _MOST


@pytest.mark.parametrize("read", [quantity, duration])
def test_long_texts_are_not_kept(read: Callable[[str], Any]) -> None:
    text = "7" * 100_000 + "s"
    before = getrefcount(text)
    assert read(text) is None
    assert getrefcount(text) == before


def test_a_patch_leaves_what_it_was_given_as_it_was() -> None:
    before = crowded(2)
    kept = deepcopy(before)
    operations = [
        {"op": "copy", "from": "/spec/containers/0/env/0", "path": "/spec/containers/0/env/-"},
        {"op": "replace", "path": "/spec/containers/0/env/2/value", "value": "copied"},
        {"op": "move", "from": "/spec/containers/0/env/1", "path": "/spec/containers/0/env/0"},
        {"op": "replace", "path": "/spec/containers/0/env/0/value", "value": "moved"},
        {"op": "add", "path": "/spec/containers/0/ports/-/name", "value": "http"},
    ]
    (container,) = patched(before, operations)["spec"]["containers"]
    assert before == kept
    assert [each["value"] for each in container["env"]] == ["moved", "0", "copied"]
