"""Which calls are about one pod."""

import itertools
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from app.admission import recorded as module
from app.admission.recorded import ADMITTED, Answered, Pod, Record, Said, pods
from app.admission.review import Request
from app.admission.webhook import Phase

START = datetime(2026, 12, 1, 9, tzinfo=UTC)
number = itertools.count()


def record(
    phase: Phase | None, name: str = "a", seconds: float = 0, answered: Answered = ADMITTED, **more: Any
) -> Record:
    metadata = {"generateName": name} if name.endswith("-") else {"name": name}
    if name.endswith("-") and phase == "validate":
        metadata["name"] = f"{name}x7k2p"
    fields = {"operation": "CREATE", "namespace": "team", "user": "ada", **more}
    request = Request(
        uid=str(next(number)), group="", kind="Pod", subresource="", name="", dry_run=False, old_object=None,
        object={"metadata": metadata}, **fields,
    )  # fmt: skip
    return Record(f"f:{request.uid}", request, phase, "enforce", START + timedelta(seconds=seconds), answered)


def paired(records: Iterable[Record]) -> list[tuple[str, str | None]]:
    """The calls of each pod by their places."""
    return [(pod.sent.uid, pod.final.uid if pod.final else None) for pod in pods(records)]


def test_two_calls_are_one_pod_with_both_answers() -> None:
    operation = {"op": "add", "path": "/spec/runtimeClassName", "value": "nvidia"}
    change, violation = Said("p/runtime-class", "repair", "set", (operation,)), Said("p/no-privileged", "deny", "no")
    first = record("mutate", answered=Answered(False, (change,), [operation]))
    last = record("validate", answered=Answered(True, (violation,)))
    (pod,) = pods([first, last])
    assert (pod.sent, pod.final, pod.whole) == (first.request, last.request, False)
    assert pod.answered == Answered(True, (change, violation), [operation])
    assert pod.patch == [operation]


def test_replicas_are_told_apart_by_their_order() -> None:
    one, two = record("mutate", "web-", 0.0), record("mutate", "web-", 0.1)
    last, later = record("validate", "web-", 0.2), record("validate", "web-", 0.3)
    assert paired([one, two, last, later]) == [
        (one.request.uid, last.request.uid),
        (two.request.uid, later.request.uid),
    ]


def test_others_are_no_partners() -> None:
    first = record("mutate")
    others = [
        record("validate", "b"),
        record("validate", namespace="other"),
        record("validate", user="bob"),
        record("validate")._replace(mode="audit"),
    ]
    found = paired([first, *others])
    assert found[-1] == (first.request.uid, None)
    assert [final for _, final in found[:-1]] == [other.request.uid for other in others]


def test_a_pod_that_was_refused_at_once_waits_for_nobody() -> None:
    refused = record("mutate", answered=Answered(True, ()))
    later = record("validate", seconds=1)
    assert paired([refused, later]) == [(refused.request.uid, None), (later.request.uid, later.request.uid)]


def test_an_update_and_a_whole_request_stand_alone() -> None:
    found: list[Pod] = list(pods([record("validate", operation="UPDATE"), record(None)]))
    assert [pod.whole for pod in found] == [True, True]
    assert [pod.final is None for pod in found] == [False, True]


def test_calls_that_are_too_far_apart_are_of_two_pods() -> None:
    first, last = record("mutate"), record("validate", seconds=60)
    assert paired([first, last]) == [(first.request.uid, None), (last.request.uid, last.request.uid)]


def test_no_more_than_some_wait(monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "_WAITING", 3)
    firsts = [record("mutate", f"p{index}") for index in range(10)]
    stream = pods(iter(firsts))
    assert next(stream).sent.uid == firsts[0].request.uid
    assert len(list(stream)) == 9
