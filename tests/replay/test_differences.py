"""What is different about two answers."""

from typing import Any

import pytest

from app.admission.recorded import ADMITTED, Answered, Said
from app.admission.replay import Change, differences, effects
from app.admission.undo import without


def add(path: str, value: Any) -> dict[str, Any]:
    return {"op": "add", "path": path, "value": value}


CLASS, KATA = add("/spec/runtimeClassName", "nvidia"), add("/spec/runtimeClassName", "kata")
SELECTOR = add("/spec/nodeSelector", {"accelerator": "gpu"})
DENY, OTHER, WARN = Said("p/one", "deny", "m"), Said("p/two", "deny", "n"), Said("p/three", "warn", "w")


def changed(*operations: dict[str, Any], rules: tuple[str, ...] = ("p/a", "p/b")) -> Answered:
    """Admitted, each operation by a rule of its own."""
    said = [Said(rule, "repair", "changed", (each,)) for rule, each in zip(rules, operations, strict=False)]
    return Answered(False, tuple(said), operations)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (ADMITTED, ADMITTED, []),
        (None, Answered(True, (DENY, OTHER)), [("newly-refused", "p/one"), ("newly-refused", "p/two")]),
        (Answered(True, (DENY,)), ADMITTED, [("no-longer-refused", "p/one")]),
        (Answered(True, ()), ADMITTED, [("no-longer-refused", "")]),
        (Answered(True, (DENY,)), Answered(True, (DENY,)), []),
        (Answered(True, ()), Answered(True, (DENY,)), []),
        (
            Answered(True, (DENY,)),
            Answered(True, (OTHER,)),
            [("refused-differently", "p/two"), ("refused-differently", "p/one")],
        ),
        # Violations that the mode lets through, and warnings.
        (Answered(False, (WARN,)), Answered(False, (DENY, DENY)),
         [("newly-warned", "p/one"), ("no-longer-warned", "p/three")]),
        (ADMITTED, Answered(False, (Said("p/four", "audit"), Said("p/five", "note"))), []),
        (ADMITTED, changed(CLASS), [("newly-changed", "p/a")]),
        (changed(CLASS), ADMITTED, [("no-longer-changed", "p/a")]),
        (changed(CLASS), changed(CLASS), []),
        (changed(CLASS), changed(KATA), [("changed-differently", "p/a")]),
        (changed(CLASS), changed(CLASS, SELECTOR), [("changed-differently", "p/b")]),
        (changed(CLASS, SELECTOR), changed(CLASS), [("changed-differently", "p/b")]),
        # An audit log holds the patch as a whole, and the rules by name; or that there was one.
        (Answered(False, (Said("p/a", "repair"), Said("p/b", "inject")), [CLASS, SELECTOR]), changed(CLASS),
         [("changed-differently", "p/b")]),
        (Answered(False, (Said("p/a", "repair"),), None), changed(KATA), []),
        (Answered(False, (Said("p/a", "repair"),), None), ADMITTED, [("no-longer-changed", "p/a")]),
        (Answered(False, (), [CLASS]), ADMITTED, [("no-longer-changed", "")]),
    ],
)  # fmt: skip
def test_differences(old: Answered | None, new: Answered, found: list[tuple[Change, str]]) -> None:
    assert [(each.change, each.rule) for each in differences(old, new)] == found


def test_a_patch_is_what_it_adds_however_it_is_cut() -> None:
    one, two = {"key": "a"}, {"key": "b"}
    assert effects([add("/spec/tolerations", [one, two])]) == effects(
        [add("/spec/tolerations", [one]), add("/spec/tolerations/-", two)]
    )
    assert effects([add("/spec/nodeSelector", {"a/b": "1", "c": "2"})]) == effects(
        [add("/spec/nodeSelector", {"c": "2"}), add("/spec/nodeSelector/a~1b", "1")]
    )


def test_what_a_policy_added_is_taken_out_and_nothing_else() -> None:
    main = {"name": "main", "resources": {"requests": {"nvidia.com/gpu": "1"}}}
    before = {"spec": {"containers": [main], "tolerations": [{"key": "own"}]}}
    patch = [
        add("/spec/containers/0/resources/limits", {"nvidia.com/gpu": "1"}),
        add("/spec/runtimeClassName", "nvidia"),
        add("/spec/tolerations/-", {"key": "gpu"}),
        add("/spec/nodeSelector", {"accelerator": "gpu"}),
        add("/spec/containers/0/env", [{"name": "X", "value": "void"}]),
    ]
    after = {
        "spec": {
            # Another webhook came after.
            "containers": [
                {"name": "mesh"},
                {
                    "name": "main",
                    "resources": {"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}},
                    "env": [{"name": "X", "value": "void"}, {"name": "MESH", "value": "on"}],
                },
            ],
            "runtimeClassName": "other",
            "tolerations": [{"key": "own"}, {"key": "gpu"}, {"key": "not-ready"}],
            "nodeSelector": {"accelerator": "gpu", "zone": "a"},
        }
    }
    assert without(after, patch, before) == {
        "spec": {
            "containers": [{"name": "mesh"}, {**main, "env": [{"name": "MESH", "value": "on"}]}],
            "runtimeClassName": "other",
            "tolerations": [{"key": "own"}, {"key": "not-ready"}],
            "nodeSelector": {"zone": "a"},
        }
    }


def test_what_is_gone_is_no_error() -> None:
    patch = [
        add("/spec/containers/0/env", []),
        add("/spec/tolerations/-", 1),
        add("/a/b/c", 1),
        add("/spec/x/9/y", 1),
        add("/spec/x/-/y", 1),
    ]
    before = {"spec": {"containers": [{"name": "main"}]}}
    assert without({"spec": {"containers": [], "x": []}}, patch, before) == {"spec": {"containers": [], "x": []}}
