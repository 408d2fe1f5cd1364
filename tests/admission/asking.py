"""A request to the webhook, as the API server would send it, and the answer, as it would read it."""

import copy
import json
import re
from base64 import b64decode
from dataclasses import dataclass
from datetime import date
from typing import Any

import jsonpatch
import orjson

from app.admission.review import read_request
from app.admission.webhook import Answer, Phase, review
from app.model.context import ClusterFacts, Context
from app.policy.compiled import Mode, Policy
from tests.engine.policies import TODAY

Object = dict[str, Any]
UID = "705ab4f5-6393-11e8-b7cc-42010a800002"


@dataclass(frozen=True)
class Reply:
    """The answer, read by the API server's rules."""

    allowed: bool
    patch: list[Object]
    status: Object
    warnings: list[str]
    annotations: dict[str, str]
    answer: Answer

    @property
    def message(self) -> str:
        return str(self.status.get("message", ""))

    def applied_to(self, obj: Object) -> Object:
        result: Object = jsonpatch.apply_patch(copy.deepcopy(obj), self.patch)
        return result


def ask(
    policy: Policy,
    phase: Phase,
    mode: Mode,
    obj: Object | None,
    *,
    operation: str = "CREATE",
    old: Object | None = None,
    namespace: str = "team",
    today: date | None = TODAY,
    facts: ClusterFacts | None = None,
    **more: Any,
) -> Reply:
    """Send a review of a pod and read the answer; ``more`` overrides fields of the request."""
    request = {
        "uid": UID,
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "operation": operation,
        "namespace": namespace,
        "userInfo": {"username": "jane"},
        "object": obj,
        "oldObject": old,
        **more,
    }
    body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    sent = orjson.loads(orjson.dumps(body))
    context = Context(namespace, today, facts or ClusterFacts())
    return read(review(policy, phase, mode, read_request(sent), context), phase)


def read(answer: Answer, phase: Phase) -> Reply:
    """VerifyAdmissionResponse of k8s.io/apiserver pkg/admission/plugin/webhook/request/admissionreview.go, and the
    rules for warnings and audit annotations beside it."""
    review = json.loads(answer.body)
    assert (review["apiVersion"], review["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    response = review["response"]
    assert response["uid"] == UID
    assert type(response["allowed"]) is bool
    if phase == "validate":
        assert "patch" not in response
        assert "patchType" not in response
    assert ("patch" in response) == ("patchType" in response)
    patch = []
    if "patch" in response:
        assert response["patchType"] == "JSONPatch"
        patch = json.loads(b64decode(response["patch"], validate=True))
        assert patch
    assert response["allowed"] or not patch
    status = response.get("status", {})
    if not response["allowed"]:
        assert status["code"] >= 400
        assert status["reason"]
        assert status["message"]
    warnings = response.get("warnings", [])
    assert sum(map(len, warnings)) <= 4096 // 2  # two calls share the API server's limit
    for text in warnings:
        assert text
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", text)
    annotations = response.get("auditAnnotations", {})
    for key, value in annotations.items():
        assert re.fullmatch(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", key)
        assert type(value) is str
        assert len(value) <= 10_240
    return Reply(response["allowed"], patch, status, warnings, annotations, answer)
