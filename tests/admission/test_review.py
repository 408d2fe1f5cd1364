"""AdmissionReview in and out: what is read, what is refused as none, and the limits of an answer."""

import json
from typing import Any

import pytest

from app.admission.review import NotAReview, answer, printable, read_request, record, refusal, warnings
from app.model.finding import Finding
from tests.admission.asking import UID, ask
from tests.engine.judging import gpu_pod
from tests.engine.policies import policy

REQUEST: dict[str, Any] = {
    "uid": UID,
    "kind": {"group": "", "version": "v1", "kind": "Pod"},
    "operation": "CREATE",
    "namespace": "team",
    "name": "a",
    "userInfo": {"username": "jane", "groups": ["system:authenticated"]},
    "object": {"kind": "Pod"},
    "oldObject": None,
    "dryRun": False,
}


def review_of(**changes: Any) -> dict[str, Any]:
    request = {key: value for key, value in {**REQUEST, **changes}.items() if value is not ...}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


def test_what_is_read() -> None:
    request = read_request(review_of(subResource="ephemeralcontainers", dryRun=True, oldObject={"kind": "Old"}))
    assert request._asdict() == {
        "uid": UID,
        "operation": "CREATE",
        "group": "",
        "kind": "Pod",
        "subresource": "ephemeralcontainers",
        "namespace": "team",
        "name": "a",
        "user": "jane",
        "dry_run": True,
        "object": {"kind": "Pod"},
        "old_object": {"kind": "Old"},
        "raw": review_of(subResource="ephemeralcontainers", dryRun=True, oldObject={"kind": "Old"})["request"],
    }


def test_what_may_be_missing() -> None:
    request = read_request(
        review_of(operation="DELETE", namespace=..., name=..., userInfo=..., object=..., oldObject=..., dryRun=...)
    )
    assert (request.namespace, request.name, request.user, request.subresource) == ("", "", "", "")
    assert (request.object, request.old_object, request.dry_run) == (None, None, False)
    assert read_request(review_of(userInfo=[])).user == ""
    assert read_request(review_of(dryRun="true")).dry_run is False
    assert read_request(review_of(kind={})).kind == ""
    assert read_request(review_of(future={"a": 1})).kind == "Pod"


@pytest.mark.parametrize("operation", ["CREATE", "UPDATE", "DELETE", "CONNECT"])
def test_operations(operation: str) -> None:
    assert read_request(review_of(operation=operation)).operation == operation


NO_REVIEW: list[tuple[Any, str]] = [
    (None, "the body is not a JSON object"),
    ([], "the body is not a JSON object"),
    ("AdmissionReview", "the body is not a JSON object"),
    ({}, "expected an AdmissionReview of admission.k8s.io/v1, found None of None"),
    ({"kind": "Pod", "apiVersion": "v1"}, "found 'Pod' of 'v1'"),
    (
        {**review_of(), "apiVersion": "admission.k8s.io/v1beta1"},
        "found 'AdmissionReview' of 'admission.k8s.io/v1beta1'",
    ),
    ({**review_of(), "request": None}, "the AdmissionReview has no request"),
    ({**review_of(), "request": []}, "the AdmissionReview has no request"),
    ({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": {}}, "has no request"),
    (review_of(uid=...), "request.uid is missing"),
    (review_of(uid=""), "request.uid is missing"),
    (review_of(uid=1), "request.uid is missing"),
    (review_of(kind=...), "request.kind is missing"),
    (review_of(kind="Pod"), "request.kind is missing"),
    (review_of(kind={"kind": 1}), "request.kind is not text"),
    (review_of(kind={"kind": "Pod", "group": []}), "request.group is not text"),
    (review_of(operation=...), "request.operation is None, not CREATE, UPDATE, DELETE or CONNECT"),
    (review_of(operation="create"), "request.operation is 'create'"),
    (review_of(operation=["CREATE"]), "request.operation is ['CREATE']"),
    (review_of(object=...), "request.object is missing; a CREATE has one"),
    (review_of(object=None, operation="UPDATE"), "request.object is missing; a UPDATE has one"),
    (review_of(object="x"), "request.object is not an object"),
    (review_of(object=[], operation="DELETE"), "request.object is not an object"),
    (review_of(oldObject=[]), "request.oldObject is not an object"),
    (review_of(namespace=1), "request.namespace is not text"),
    (review_of(name=1), "request.name is not text"),
    (review_of(subResource={}), "request.subResource is not text"),
    (review_of(userInfo={"username": 1}), "request.username is not text"),
]


@pytest.mark.parametrize(("body", "said"), NO_REVIEW)
def test_what_is_no_review(body: Any, said: str) -> None:
    with pytest.raises(NotAReview) as raised:
        read_request(body)
    assert said in str(raised.value)


def test_an_answer_holds_no_more_than_it_needs() -> None:
    assert json.loads(answer(UID)) == {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": UID, "allowed": True},
    }
    empty = answer(UID, patch=[], warnings=[], annotations={})
    assert empty == answer(UID)


def test_the_uid_comes_back_as_it_is() -> None:
    assert json.loads(answer("ü-1"))["response"]["uid"] == "ü-1"


def finding(message: str, outcome: Any = "deny", help: str | None = None) -> Finding:
    return Finding("p", "r", outcome, "/spec", message, help=help)


def test_a_refusal_holds_every_violation_in_one_message() -> None:
    assert refusal([finding("one")]) == {"code": 403, "reason": "Forbidden", "message": "p/r: one"}
    assert refusal([finding("one"), finding("two", help="ask")])["message"] == "(1) p/r: one (2) p/r: two (ask)"
    many = refusal([finding(str(number)) for number in range(25)])["message"]
    assert many.endswith("(20) p/r: 19 and 5 more")
    assert len(refusal([finding("x" * 100_000)] * 100)["message"]) < 25_000


def test_warnings_stay_below_the_api_servers_limit() -> None:
    assert warnings([]) == []
    few = [finding("x" * 100) for _ in range(10)]
    assert warnings(few) == [each.text for each in few]
    for length in (10, 100, 999, 5_000):
        for count in (1, 2, 3, 50, 5_000):
            texts = warnings([finding("x" * length)] * count)
            assert sum(map(len, texts)) <= 2048
            told = len(texts) - 1 if texts[-1].startswith("gpugate: and ") else len(texts)
            assert told >= 1
            assert texts[told:] == ([f"gpugate: and {count - told} more"] if told < count else [])


def test_warnings_and_changes_share_the_limit() -> None:
    found, changes = [finding("x" * 300)] * 4, [finding("y" * 300, "repair")] * 4
    texts = warnings(found, changes)
    assert sum(map(len, texts)) <= 2048
    assert texts[4] == "would be changed: " + changes[0].text
    assert texts[-1] == "gpugate: and 2 more"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain… text", "plain… text"),
        ("two\nlines", "two lines"),
        ("tab\tbell\x07", "tab bell "),
        ("\x9b31m", " 31m"),
        ("\u2028\u202e", "  "),
        ("\ud800", " "),
        ("", ""),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_nothing_in_an_answer_can_pass_for_another_line() -> None:
    forged = [finding("one\ndeny p/other: two\x1b[31m"), finding("three", "warn")]
    assert record(forged).splitlines() == ["deny p/r: one deny p/other: two [31m", "warn p/r: three"]
    assert all(text.isprintable() for text in [*warnings(forged), refusal(forged)["message"]])


def test_a_record_is_no_longer_than_an_audit_annotation_may_be() -> None:
    assert len(record([finding("x" * 900)] * 100)) == 10_000


def test_what_a_pod_says_of_itself_goes_into_no_answer_unescaped() -> None:
    nodes = policy("  gpus: {presets: [nvidia]}\n  inject: [{name: nodes, nodeSelector: {accelerator: nvidia-gpu}}]\n")
    pod = gpu_pod(nodeSelector={"accelerator": "x\ndeny gpu-pods/forged: " + "y" * 100_000})
    reply = ask(nodes, "mutate", "enforce", pod)
    assert not reply.allowed
    assert reply.message.isprintable()
    assert len(reply.message) <= 1_000
    assert len(reply.annotations["findings"].splitlines()) == 1
