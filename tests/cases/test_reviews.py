"""The cases that are AdmissionReviews: what the webhook answers in mode `enforce`."""

from base64 import b64decode
from pathlib import Path
from typing import Any, Literal

import orjson
import pytest

from app.admission.review import read_request
from app.admission.webhook import review
from app.model.context import Context
from tests.cases.folders import FOLDER, TODAY, adds, expected, policy, short
from tests.contract.fixtures import objects

CASE: Path = FOLDER / "52-kueue-gated-pod"
REVIEWS = {found["request"]["uid"][-4:]: found for found in objects(CASE / "input.yaml")}


def test_every_review_has_its_verdicts() -> None:
    assert set(expected(CASE)) == set(REVIEWS)


@pytest.mark.parametrize("phase", ["mutate", "validate"])
@pytest.mark.parametrize("uid", REVIEWS)
def test_answer(uid: str, phase: Literal["mutate", "validate"]) -> None:
    request, wanted = read_request(REVIEWS[uid]), expected(CASE)[uid][phase]
    answer = review(policy("platform"), phase, "enforce", request, Context(request.namespace, TODAY))
    response: dict[str, Any] = orjson.loads(answer.body)["response"]
    assert answer.verdict == wanted["verdict"]
    assert short(answer.findings) == sorted(wanted["findings"])
    assert response["allowed"] is (wanted["verdict"] != "refused")
    assert response["uid"] == REVIEWS[uid]["request"]["uid"]
    patch = orjson.loads(b64decode(response["patch"])) if "patch" in response else []
    assert adds(patch) == wanted.get("adds", [])
