"""Patterns: anchors, scalars, lists, missing keys and null."""

from typing import Any

import pytest

from app.kyverno.patterns import compile_pattern
from app.kyverno.scalars import matches
from tests.kyverno.judging import matched

ANCHORS = [
    # pattern, key missing, present and a mismatch, present and a match
    ({"k": "a"}, "fail", "fail", "pass"),
    ({"(k)": "a"}, "skip", "skip", "pass"),
    ({"=(k)": "a"}, "pass", "fail", "pass"),
    ({"X(k)": "a"}, "pass", "fail", "fail"),
    ({"<(k)": "a"}, "pass", "skip", "pass"),
]


@pytest.mark.parametrize(("pattern", "missing", "mismatch", "match"), ANCHORS)
def test_anchors(pattern: dict[str, Any], missing: str, mismatch: str, match: str) -> None:
    assert matched(pattern, {}) == missing
    assert matched(pattern, {"k": "b"}) == mismatch
    assert matched(pattern, {"k": "a"}) == match


def test_a_negated_key_must_not_be_there_even_as_null() -> None:
    assert matched({"X(k)": "null"}, {"k": None}) == "fail"


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        ({}, "pass"),
        ({"k": []}, "fail"),
        ({"k": [{"a": 1}, {"a": 2}]}, "pass"),
        ({"k": [{"a": 1}]}, "fail"),
        ({"k": {"a": 1}}, "fail"),
    ],
)
def test_existence_wants_an_element_for_each_pattern(value: Any, outcome: str) -> None:
    assert matched({"^(k)": [{"a": 1}, {"a": 2}]}, value) == outcome


GPU = {"containers": [{"resources": {"limits": {"(nvidia.com/gpu)": ">0"}}, "securityContext": {"privileged": False}}]}
GATED = {
    "containers": [
        {"(resources)": {"(limits)": {"(nvidia.com/gpu)": ">0"}}, "securityContext": {"privileged": False}},
    ]
}
PRIVILEGED = {"securityContext": {"privileged": True}}


def test_a_condition_below_plain_keys_gates_the_element_that_it_is_in() -> None:
    with_gpu = {"resources": {"limits": {"nvidia.com/gpu": 1}}, **PRIVILEGED}
    without_gpu = {"resources": {"limits": {"cpu": 1}}, **PRIVILEGED}
    assert matched(GPU, {"containers": [with_gpu]}) == "fail"
    assert matched(GPU, {"containers": [without_gpu]}) == "skip"


def test_a_missing_parent_of_a_condition_fails_unless_it_is_one_too() -> None:
    assert matched(GPU, {"containers": [PRIVILEGED]}) == "fail"
    assert matched(GATED, {"containers": [PRIVILEGED]}) == "skip"


def test_a_condition_that_skips_hides_what_fails_beside_it() -> None:
    assert matched({"(a)": 1, "b": 2}, {"a": 3, "b": 3}) == "skip"


def test_of_a_list_of_maps_only_the_first_is_a_pattern_and_it_is_for_every_element() -> None:
    pattern = [{"a": 1}, {"a": 2}]
    assert matched(pattern, [{"a": 1}, {"a": 1}]) == "pass"
    assert matched(pattern, [{"a": 1}, {"a": 2}]) == "fail"
    assert matched(pattern, []) == "pass"


def test_elements_that_a_condition_skips_do_not_count_unless_all_do() -> None:
    pattern = [{"(name)": "gpu-*", "image": "ok"}]
    assert matched(pattern, [{"name": "side", "image": "no"}, {"name": "gpu-1", "image": "ok"}]) == "pass"
    assert matched(pattern, [{"name": "side", "image": "no"}, {"name": "gpu-1", "image": "no"}]) == "fail"
    assert matched(pattern, [{"name": "side", "image": "no"}]) == "skip"


def test_a_global_anchor_in_a_list_skips_only_if_no_element_applied() -> None:
    pattern = {"containers": [{"<(image)": "a", "pull": "Always"}]}
    assert matched(pattern, {"containers": [{"image": "b", "pull": "Never"}]}) == "skip"
    assert matched(pattern, {"containers": [{"image": "b"}, {"image": "a", "pull": "Always"}]}) == "pass"
    assert matched(pattern, {"containers": [{"image": "b"}, {"image": "a", "pull": "Never"}]}) == "fail"


def test_of_a_list_of_scalars_only_the_first_counts() -> None:
    assert matched(["x", "y"], ["x", "x"]) == "pass"
    assert matched(["x", "y"], ["x", "y"]) == "fail"


def test_a_scalar_is_for_each_item_of_a_list() -> None:
    assert matched("!ALL", ["NET_ADMIN"]) == "pass"
    assert matched("!ALL", ["NET_ADMIN", "ALL"]) == "fail"
    assert matched("!ALL", []) == "pass"


def test_lists_of_lists_are_held_one_by_one() -> None:
    assert matched([["a"], ["b"]], [["a"], ["b"], ["c"]]) == "pass"
    assert matched([["a"], ["b"]], [["a"]]) == "fail"
    assert matched([], []) == "fail"


def test_a_pattern_of_another_type_than_the_value_fails() -> None:
    assert matched({"a": 1}, []) == "fail"
    assert matched([{"a": 1}], {"a": 1}) == "fail"


def test_wildcards_in_keys_stand_for_labels_and_annotations_and_nothing_else() -> None:
    pattern = {"metadata": {"=(annotations)": {"=(*beta.kubernetes.io/*)": "ok"}}}
    assert matched(pattern, {"metadata": {"annotations": {"a.beta.kubernetes.io/b": "no"}}}) == "fail"
    assert matched(pattern, {"metadata": {"annotations": {"a.beta.kubernetes.io/b": "ok"}}}) == "pass"
    assert matched(pattern, {"metadata": {"annotations": {"other": "no"}}}) == "pass"
    assert matched({"metadata": {"labels": {"app*": "?*"}}}, {"metadata": {"labels": {"app.io/x": "y"}}}) == "pass"
    assert matched({"spec": {"nodeSelector": {"a*": "?*"}}}, {"spec": {"nodeSelector": {"abc": "y"}}}) == "fail"


def test_the_place_of_a_mismatch_is_the_failing_field_with_indexes() -> None:
    mismatch = compile_pattern({"spec": {"containers": [{"image": "!*:latest"}]}}).check(
        {"spec": {"containers": [{"image": "a:1"}, {"image": "b:latest"}]}}
    )
    assert mismatch is not None
    assert (mismatch.pointer, mismatch.found, mismatch.wanted) == ("/spec/containers/1/image", "b:latest", "!*:latest")


def test_keys_with_anchors_below_come_first_in_reverse_order() -> None:
    # Of two keys that mismatch, one by failing and one by skipping, the one that is asked first decides.
    pattern = {"a": {"(x)": 1}, "b": {"=(y)": 1}, "c": 1}
    assert matched(pattern, {"a": {"x": 2}, "b": {"y": 2}, "c": 2}) == "fail"
    assert matched(pattern, {"a": {"x": 2}, "b": {"y": 1}, "c": 2}) == "skip"


MISSING = [
    # pattern under a plain key, outcome for a missing key
    ("?*", "fail"),
    ("*", "fail"),
    (None, "pass"),
    ("<=8", "pass"),
    ("<10", "pass"),
    ("!5", "pass"),
    ("0", "pass"),
    (">0", "fail"),
    (">=1", "fail"),
    ("!foo", "fail"),
    (False, "fail"),
    (0, "fail"),
]


@pytest.mark.parametrize(("pattern", "outcome"), MISSING)
def test_missing_keys_and_null(pattern: Any, outcome: str) -> None:
    assert matched({"k": pattern}, {}) == outcome
    assert matched({"k": pattern}, {"k": None}) == outcome


def test_any_value_at_all() -> None:
    assert matched({"k": "*"}, {"k": {}}) == "pass"
    assert matched({"k": "?*"}, {"k": {}}) == "fail"
    assert matched({"k": "?*"}, {"k": ["a", "b"]}) == "pass"
    assert matched({"k": "?*"}, {"k": ["a", ""]}) == "fail"
    assert matched({"=(k)": "*"}, {"k": {}}) == "fail"
    assert matched({"(k)": "*"}, {"k": {}}) == "skip"


@pytest.mark.parametrize("value", [0, 0.0, "", False, None])
def test_null_holds_for_zero_values(value: Any) -> None:
    assert matches(value, None)


@pytest.mark.parametrize("value", [1, "x", True, {}, []])
def test_null_holds_for_nothing_else(value: Any) -> None:
    assert not matches(value, None)


SCALARS = [
    # value, pattern, whether it holds
    (1, "1", True),
    (False, "false", True),
    ("false", False, False),
    (True, 1, False),
    ("7", 7, True),
    ("7.0", 7, False),
    (7.0, 7, True),
    ("7.5", 7.5, True),
    ("nginx:1", "nginx:*", True),
    ("nginx", "ngin?", True),
    ("nginx", "nginx?", False),
    ("a", "b|a", True),
    ("a", "b | c", False),
    (5, ">2 & <8", True),
    (9, ">2 & <8 | >8", True),
    (8, ">2&<8", False),
    ("60m", "1h", True),  # as durations, though as CPU it would be 0.06
    ("1024Mi", "1Gi", True),
    ("1500m", ">1", True),
    ("60m", "!1h", True),  # as text it is another
    (5, "1-5", True),
    (6, "1-5", False),
    (6, "1!-5", True),
    (5, "1!-5", False),
    ("512Mi", "256Mi-1Gi", True),
    ("abc", ">=1", False),
    ("b", "!a", True),
    ("a", "!a", False),
    (None, "!a", False),
    ({}, "*", False),
    (1.5, "1.5E+00", True),
    ("a|b", "a|b", True),
]


@pytest.mark.parametrize(("value", "pattern", "holds"), SCALARS)
def test_scalars(value: Any, pattern: Any, holds: bool) -> None:
    assert matches(value, pattern) is holds


def test_many_wildcards_take_no_time() -> None:
    assert not matches("a" * 5000, "*a" * 40 + "*b")
