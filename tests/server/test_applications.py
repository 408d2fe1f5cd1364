"""The applications without a network: what no server process lets a test reach."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.types import ASGIApp

from app.server import reviews as reviews_module
from app.server.apps import metrics_app, webhook_app
from app.server.reviews import ENDPOINTS, MODES, Reviews
from app.server.service import Service
from tests.server.inprocess import service as make_service
from tests.server.samples import POLICY, check, gpu_pod, privileged_pod, review


@pytest.fixture
def log_file(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def service(log_file: Path) -> Iterator[Service]:
    made = make_service(log_file, scopes=lambda policy: frozenset(("5c0pe", "br0ad")))
    yield made
    made.log.close()


@pytest.fixture
def app(service: Service) -> Reviews:
    return webhook_app(service)


def request(app: ASGIApp, method: str, path: str, **options: Any) -> httpx.Response:
    async def send() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://gpugate") as client:
            return await client.request(method, path, **options)

    return asyncio.run(send())


def lines(log_file: Path, event: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in log_file.read_text().splitlines()]
    return [line for line in found if line["event"] == event]


@pytest.mark.parametrize(("mode", "allowed"), [("enforce", False), ("assist", True), ("warn", True), ("audit", True)])
def test_an_internal_error_is_answered_as_the_mode_demands(
    service: Service, log_file: Path, monkeypatch: pytest.MonkeyPatch, mode: str, allowed: bool
) -> None:
    def broken(*_arguments: object) -> None:
        raise ZeroDivisionError("deep inside")

    app = webhook_app(service)
    with monkeypatch.context() as patch:
        patch.setattr(reviews_module, "review", broken)
        answer = check(request(app, "POST", f"/mutate/{mode}", json=review(uid="bad-1")).json())
    assert answer["uid"] == "bad-1"
    assert answer["allowed"] is allowed
    if allowed:
        assert "ZeroDivisionError" in answer["auditAnnotations"]["error"]
    else:
        assert answer["status"]["code"] == 500
        assert answer["status"]["reason"] == "InternalError"
    assert "deep inside" not in json.dumps(answer)
    (logged,) = lines(log_file, "internal_error")
    assert logged["uid"] == "bad-1"
    assert "ZeroDivisionError: deep inside" in logged["traceback"]
    assert check(request(app, "POST", f"/mutate/{mode}", json=review()).json())["allowed"] is True


def test_an_internal_error_in_a_pinned_namespace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY)
    monkeypatch.setattr(reviews_module, "review", lambda *_arguments: 1 / 0)
    app = webhook_app(make_service(tmp_path / "log", policy=str(policy)))
    answer = check(request(app, "POST", "/validate/audit", json=review(namespace="pinned")).json())
    assert answer["allowed"] is False


def test_a_scope_that_is_not_that_of_the_configuration(service: Service, log_file: Path) -> None:
    app, metrics = webhook_app(service), metrics_app(service)

    def mismatch() -> float | None:
        return service.metrics.registry.get_sample_value("gpugate_scope_mismatch")

    request(app, "POST", "/mutate/enforce/5c0pe", json=review())
    request(app, "POST", "/mutate/enforce/br0ad", json=review())
    request(app, "POST", "/mutate/enforce", json=review())
    assert mismatch() == 0
    for _ in range(3):
        assert check(request(app, "POST", "/mutate/enforce/0ld", json=review()).json())["allowed"] is True
    assert mismatch() == 1
    (logged,) = lines(log_file, "scope_mismatch")
    assert (logged["endpoint"], logged["configured"], logged["in_force"]) == (
        "/mutate/enforce",
        "0ld",
        ["5c0pe", "br0ad"],
    )
    ready = request(metrics, "GET", "/readyz")
    assert ready.status_code == 200
    assert "/mutate/enforce" in ready.json()["notes"][0]
    request(app, "POST", "/validate/enforce/0ld", json=review())
    request(app, "POST", "/mutate/enforce/5c0pe", json=review())
    assert mismatch() == 1
    # While one policy follows another, the paths carry both digests.
    request(app, "POST", "/validate/enforce/0ld.5c0pe", json=review())
    assert mismatch() == 0
    request(app, "POST", "/validate/enforce/0ld.n3w", json=review())
    assert mismatch() == 1
    request(app, "POST", "/validate/enforce/5c0pe", json=review())
    assert mismatch() == 0
    assert request(metrics, "GET", "/policy").json()["scopes"] == ["5c0pe", "br0ad"]


def test_not_ready_without_a_valid_certificate(service: Service) -> None:
    app = webhook_app(service)
    assert request(app, "GET", "/readyz").status_code == 200
    service.certificate_expiry = datetime.now(UTC) - timedelta(seconds=1)
    answer = request(app, "GET", "/readyz")
    assert answer.status_code == 503
    assert answer.json()["reasons"][0].startswith("certificate: expired on")
    service.certificate_expiry = None
    assert request(app, "GET", "/readyz").json()["reasons"] == ["certificate: none loaded"]
    assert request(app, "GET", "/healthz").status_code == 200


def test_answers_close_the_connection_while_draining(service: Service) -> None:
    app = webhook_app(service)
    assert "connection" not in request(app, "POST", "/mutate/enforce", json=review()).headers
    service.draining = True
    assert request(app, "POST", "/mutate/enforce", json=review()).headers["connection"] == "close"
    assert request(app, "POST", "/mutate/enforce", content=b"x").headers["connection"] == "close"


@pytest.mark.parametrize("accept", ["text/plain", "application/openmetrics-text; version=1.0.0"])
def test_metrics_in_both_formats(service: Service, accept: str) -> None:
    request(webhook_app(service), "POST", "/validate/enforce", json=review(privileged_pod()))
    answer = request(metrics_app(service), "GET", "/metrics", headers={"accept": accept})
    assert answer.headers["content-type"].startswith(accept.partition(";")[0])
    assert 'verdict="refused"} 1.0' in answer.text
    assert "_created" not in answer.text


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
KEYS = st.sampled_from(
    ["metadata", "spec", "containers", "initContainers", "ephemeralContainers", "name", "labels", "annotations",
     "resources", "limits", "requests", "claims", "nvidia.com/gpu", "env", "volumeMounts", "volumes", "hostPath",
     "path", "tolerations", "nodeSelector", "key", "operator", "effect", "value", "affinity", "nodeAffinity",
     "securityContext", "privileged", "runtimeClassName", "schedulingGates", "resourceClaims", "ownerReferences",
     "deletionTimestamp", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms", "matchExpressions",
     "values"]
)  # fmt: skip
POD_LIKE = st.recursive(
    JSON_VALUES | st.sampled_from(["1", "8", "-1", "1.5", "Exists", "NoSchedule", "/dev/nvidia0", True]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)


@st.composite
def bodies(draw: st.DrawFn) -> Any:
    """Anything, reviews with anything somewhere, and reviews of a pod that is odd in one place."""
    kind = draw(st.integers(0, 4))
    if kind == 0:
        return draw(JSON_VALUES)
    body = review(gpu_pod())
    if kind == 1:
        body["request"][draw(st.sampled_from(sorted(body["request"])))] = draw(JSON_VALUES)
        return body
    if kind == 2:
        body["request"]["object"] = draw(POD_LIKE)
        return body
    pod = body["request"]["object"]
    place: Any = draw(st.sampled_from([pod, pod["spec"], pod["metadata"], pod["spec"]["containers"][0]]))
    place[draw(KEYS)] = draw(POD_LIKE)
    if kind == 4:
        body["request"] |= {"operation": "UPDATE", "oldObject": draw(POD_LIKE)}
    return body


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(bodies(), st.sampled_from(ENDPOINTS), st.sampled_from(MODES))
def test_no_body_is_left_without_an_answer(app: Reviews, body: Any, phase: str, mode: str) -> None:
    target = app.target(f"/{phase}/{mode}")
    assert target is not None
    status, content = app.answer(target, json.dumps(body).encode())
    answer = json.loads(content)
    if status == 400:
        assert answer["error"]
        return
    assert status == 200
    found = check(answer)
    assert found["uid"] == body["request"]["uid"]
    assert phase == "mutate" or "patch" not in found
    assert mode == "enforce" or found["allowed"]
    assert b"internal error" not in content
