"""What is known, and what of it is gone."""

from typing import Any

import pytest

from app.documents import Region
from app.report.baseline import Baseline, InvalidBaseline, NewBaseline, parse_baseline
from app.report.results import FailOn, as_given
from tests.report.samples import OBJECTS, REPAIR, judged, placed, pod


def deny(**fields: Any) -> Any:
    found = placed("deny", "wrong", at=Region(1, 1, 1, 2), pointer=fields.pop("pointer", "/spec/containers/0/x"))
    return judged(pod(found, allowed=False), **fields)


def written(*objects: Any, fail_on: FailOn = "deny") -> str:
    made = NewBaseline(fail_on, as_given)
    for each in objects:
        made.add(each)
    return made.dump()


def known(text: str) -> Baseline:
    return Baseline(parse_baseline(text.encode()), as_given)


def fails(baseline: Baseline, *objects: Any, fail_on: FailOn = "deny") -> list[bool]:
    return [any(pod.fails(fail_on) for pod in baseline.mark(each).pods) for each in objects]


@pytest.mark.parametrize("fail_on", ["deny", "warn", "change"])
def test_what_is_written_fails_nothing(fail_on: FailOn) -> None:
    baseline = known(written(*OBJECTS, fail_on=fail_on))
    assert not any(fails(baseline, *OBJECTS, fail_on=fail_on))
    assert baseline.stale(lambda _: True) == []


def test_only_what_can_fail_is_written() -> None:
    noted = judged(pod(placed("note", "n", at=Region(1, 1, 1, 2)), REPAIR, patch=({"op": "add"},)))
    assert parse_baseline(written(noted).encode()) == []
    assert parse_baseline(written(noted, fail_on="warn").encode()) == []
    assert [entry.rule for entry in parse_baseline(written(noted, fail_on="change").encode())] == ["p/runtime-class"]


def test_a_new_finding_fails() -> None:
    baseline = known(written(deny()))
    assert fails(baseline, deny(), deny(name="new")) == [False, True]


def test_a_second_one_of_the_same_kind_is_new() -> None:
    baseline = known(written(deny(), deny()))
    assert fails(baseline, deny(), deny(), deny()) == [False, False, True]


def test_indexes_do_not_count() -> None:
    assert fails(known(written(deny())), deny(pointer="/spec/containers/3/x")) == [False]
    assert fails(known(written(deny())), deny(pointer="/spec/containers/0/y")) == [True]


def test_what_is_gone_is_stale_if_its_file_was_judged_or_is_gone() -> None:
    baseline = known(written(deny(), deny(name="b")))
    assert baseline.stale(lambda _: True) == []  # nothing of it was judged
    assert len(baseline.stale(lambda _: False)) == 2
    fails(baseline, deny())
    (stale,) = baseline.stale(lambda _: True)
    assert str(stale) == "k8s/a.yaml: Deployment team-a/b: p/no-privileged: wrong"


def test_a_file_that_was_judged_and_holds_no_pod_any_more() -> None:
    baseline = known(written(deny()))
    baseline.mark(judged(kind="ConfigMap"))
    assert len(baseline.stale(lambda _: True)) == 1


def test_the_file_does_not_depend_on_the_order_of_the_input() -> None:
    one, two = deny(name="a"), deny(name="b")
    assert written(one, two) == written(two, one)
    assert written(one, two).count("\n") == 4


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"version": 2}', '{"version": 1}', '{"version": 1, "findings": [1]}',
     '{"version": 1, "findings": [{"fingerprint": 1}]}'],
)  # fmt: skip
def test_what_is_no_baseline(text: str) -> None:
    with pytest.raises(InvalidBaseline):
        parse_baseline(text.encode())
