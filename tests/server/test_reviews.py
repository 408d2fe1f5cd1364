"""AdmissionReview, to the letter, over HTTPS."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.server.samples import gpu_pod, patched, privileged_pod, response, review
from tests.support.server import Server


def test_the_uid_is_echoed_and_the_pod_is_changed(server: Server) -> None:
    pod = gpu_pod()
    found = response(server.post("/mutate/enforce", review(pod, uid="0c1e-echo")))
    assert found["uid"] == "0c1e-echo"
    assert found["allowed"] is True
    assert patched(pod, found)["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "1"}


def test_fields_that_gpugate_does_not_know_stay(server: Server) -> None:
    pod = gpu_pod(quantumGates=[{"spin": 1}], **{"x/y": None})
    pod["spec"]["containers"][0]["futureField"] = {"deep": [1, {"er": "1e3"}]}
    pod["futureSection"] = {"a": 9007199254740993}
    after = patched(pod, response(server.post("/mutate/enforce", review(pod))))
    assert after["spec"]["quantumGates"] == [{"spin": 1}]
    assert after["spec"]["x/y"] is None
    assert after["spec"]["containers"][0]["futureField"] == {"deep": [1, {"er": "1e3"}]}
    assert after["futureSection"] == {"a": 9007199254740993}


@pytest.mark.parametrize("mode", ["audit", "warn", "assist", "enforce"])
def test_a_validating_call_never_has_a_patch(server: Server, mode: str) -> None:
    found = response(server.post(f"/validate/{mode}", review()))
    assert "patch" not in found
    assert "patchType" not in found


@pytest.mark.parametrize("mode", ["audit", "warn"])
def test_audit_and_warn_change_nothing(server: Server, mode: str) -> None:
    found = response(server.post(f"/mutate/{mode}", review()))
    assert found["allowed"] is True
    assert "patch" not in found
    assert bool(found.get("warnings")) == (mode == "warn")


def test_a_refusal_is_forbidden_and_says_why(server: Server) -> None:
    found = response(server.post("/validate/enforce", review(privileged_pod())))
    assert found["allowed"] is False
    assert found["status"]["code"] == 403
    assert found["status"]["reason"] == "Forbidden"
    assert 'gpu-pods/no-privileged: container "main"' in found["status"]["message"]


def test_warnings_stay_within_the_limits_of_the_api_server(server: Server) -> None:
    pod = privileged_pod()
    template = pod["spec"]["containers"][0]
    pod["spec"]["containers"] = [{**template, "name": f"c{number}-" + "x" * 240} for number in range(200)]
    found = response(server.post("/validate/warn", review(pod)))
    assert found["allowed"] is True
    assert "more" in found["warnings"][-1]


def test_a_control_character_does_not_reach_a_warning(server: Server) -> None:
    pod = privileged_pod()
    pod["spec"]["containers"][0]["name"] = "a\nb\x00c"
    assert response(server.post("/validate/warn", review(pod)))["warnings"]


def test_a_path_may_end_in_a_digest_and_a_query(server: Server) -> None:
    assert response(server.post("/mutate/enforce/0a1b2c?timeout=3s", review()))["patchType"] == "JSONPatch"
    assert response(server.post("/validate/enforce?timeout=1s", review()))["allowed"] is False


def test_a_content_type_with_parameters_or_none_is_json(server: Server) -> None:
    assert response(server.post("/mutate/audit", review(), content_type="Application/JSON; charset=utf-8"))
    assert response(server.post("/mutate/audit", review(), content_type=None))


def test_a_review_in_chunks_is_answered(server: Server) -> None:
    import json

    body = json.dumps(review(gpu_pod(padding="x" * 300_000))).encode()
    pieces = (body[at : at + 1000] for at in range(0, len(body), 1000))
    answer = server.client.post("/mutate/enforce", content=pieces, headers={"content-type": "application/json"})
    assert answer.request.headers["transfer-encoding"] == "chunked"
    assert answer.json()["response"]["patchType"] == "JSONPatch"


def test_a_large_review_is_answered(server: Server) -> None:
    found = response(server.post("/mutate/enforce", review(gpu_pod(padding="x" * 6_000_000))))
    assert found["patchType"] == "JSONPatch"


@pytest.mark.parametrize(
    "wrong",
    [
        {"spec": "text"},
        {"spec": {"containers": {"name": "main"}}},
        {"spec": {"containers": ["main"]}},
        {"spec": {"containers": [{"name": "main", "resources": []}]}},
        {"spec": {"containers": [{"name": "main", "resources": {"limits": "nvidia.com/gpu"}}]}},
        {"metadata": {"labels": ["a"]}, "spec": {"containers": []}},
        {"metadata": [], "spec": {"containers": []}},
    ],
    ids=str,
)
@pytest.mark.parametrize("phase", ["mutate", "validate"])
def test_wrong_types_where_maps_belong(server: Server, phase: str, wrong: dict[str, Any]) -> None:
    refused = response(server.post(f"/{phase}/enforce", review(wrong)))
    assert refused["allowed"] is False
    assert refused["status"]["code"] == 500
    assert "must be" in refused["status"]["message"]
    admitted = response(server.post(f"/{phase}/assist", review(wrong)))
    assert admitted["allowed"] is True
    assert "must be" in admitted["auditAnnotations"]["error"]
    assert response(server.post(f"/{phase}/audit", review()))["allowed"] is True


def test_many_at_once(server: Server) -> None:
    def one(number: int) -> bool:
        with server.new_client() as client:
            for turn in range(20):
                uid = f"{number}-{turn}"
                pod = privileged_pod() if (number + turn) % 2 else gpu_pod()
                found = client.post("/mutate/enforce", json=review(pod, uid=uid)).json()["response"]
                assert found["uid"] == uid
        return True

    before = server.metric("gpugate_reviews_total", endpoint="mutate")
    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(one, range(16)))
    assert server.metric("gpugate_reviews_total", endpoint="mutate") == before + 16 * 20
