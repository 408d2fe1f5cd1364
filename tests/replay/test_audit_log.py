"""Events of an API server's audit log. What a real one writes is tested in tests/apiserver/test_replay.py."""

import json
from typing import Any

import pytest

from app.admission.recorded import Answered, Record, Said
from app.sources.audit_log import AuditLog, Unusable, is_event

CLASS = {"op": "add", "path": "/spec/runtimeClassName", "value": "nvidia"}
REFUSED = 'admission webhook "validate-enforce-gpu.gpugate.dev" denied the request: gpu-pods/no-privileged: no'


def event(annotations: dict[str, str] | None = None, code: int = 201, message: str = "", **more: Any) -> dict[str, Any]:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": []}}
    return {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Request",
        "auditID": "1",
        "stage": "ResponseComplete",
        "requestURI": "/api/v1/namespaces/team/pods?fieldManager=kubectl-create",
        "verb": "create",
        "user": {"username": "ada"},
        "objectRef": {"resource": "pods", "namespace": "team", "name": "a", "apiVersion": "v1"},
        "responseStatus": {"code": code, "message": message},
        "requestObject": pod,
        "requestReceivedTimestamp": "2026-12-01T09:00:00.123456Z",
        "annotations": annotations or {},
        **more,
    }


def read(value: dict[str, Any], log: AuditLog | None = None) -> Record:
    assert is_event(value)
    record = (log or AuditLog()).record("f:1", value)
    assert record is not None
    return record


def mutation(mode: str, *, mutated: bool) -> dict[str, str]:
    said = {"configuration": "gpugate", "webhook": f"mutate-{mode}-gpu.gpugate.dev", "mutated": mutated}
    return {"mutation.webhook.admission.k8s.io/round_0_index_0": json.dumps(said)}


def patch(*operations: dict[str, Any], webhook: str = "mutate-enforce-gpu.gpugate.dev") -> dict[str, str]:
    said = {"configuration": "gpugate", "webhook": webhook, "patch": operations, "patchType": "JSONPatch"}
    return {"patch.webhook.admission.k8s.io/round_0_index_0": json.dumps(said)}


def test_a_creation() -> None:
    record = read(event(mutation("enforce", mutated=True) | patch(CLASS)))
    assert (record.phase, record.mode) == (None, "enforce")
    assert record.answered == Answered(False, (), [CLASS])
    assert record.request.operation == "CREATE"
    assert (record.request.namespace, record.request.name, record.request.user) == ("team", "a", "ada")
    assert str(record.when) == "2026-12-01 09:00:00.123456+00:00"


def test_a_refusal_with_its_findings() -> None:
    findings = 'deny gpu-pods/no-privileged: container "a": no\nnote gpu-pods/x: y\nnonsense\n'
    annotations = {
        "validate-enforce-gpu.gpugate.dev/mode": "enforce",
        "validate-enforce-gpu.gpugate.dev/findings": findings,
    }
    record = read(event(annotations, 403, REFUSED))
    said = (Said("gpu-pods/no-privileged", "deny", 'container "a": no'), Said("gpu-pods/x", "note", "y"))
    assert record.answered == Answered(True, said)
    assert record.mode == "enforce"


def test_a_change_whose_patch_is_not_logged() -> None:
    annotations = mutation("assist", mutated=True) | {"mutate-assist-gpu.gpugate.dev/changes": "repair p/a: done"}
    assert read(event(annotations)).answered == Answered(False, (Said("p/a", "repair", "done"),), None)


def test_what_others_do_is_not_ours() -> None:
    record = read(event(patch(CLASS, webhook="mesh.example.com") | {"mesh.example.com/mode": "enforce"}))
    assert (record.mode, record.answered) == (None, Answered(False, (), []))


def test_the_mode_of_a_namespace_is_remembered() -> None:
    log = AuditLog()
    assert read(event(), log).mode is None
    read(event(mutation("warn", mutated=False)), log)
    assert read(event(), log).mode == "warn"
    other = event(objectRef={"resource": "pods", "namespace": "other"})
    assert read(other, log).mode is None


def test_defaults_are_given_as_the_api_server_gives_them_later() -> None:
    spec = {"containers": [{"name": "a", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}
    record = read(event(requestObject={"metadata": {}, "spec": spec}))
    assert record.request.object is not None
    assert record.request.object["spec"]["containers"][0]["resources"]["requests"] == {"nvidia.com/gpu": 1}


def test_an_update_and_a_patch_of_which_the_pod_is_known() -> None:
    reference = {"resource": "pods", "subresource": "ephemeralcontainers", "namespace": "team", "name": "a"}
    record = read(event(verb="update", code=200, objectRef=reference))
    assert (record.request.operation, record.request.subresource) == ("UPDATE", "ephemeralcontainers")
    pod = {"kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": []}}
    record = read(event(verb="patch", code=200, requestObject={"spec": {}}, responseObject=pod))
    assert record.request.object == pod


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"verb": "patch"}, "patches"),
        ({"verb": "patch", "responseObject": {"kind": "Status"}}, "patches"),
        ({"requestObject": None}, "audit level"),
        ({"requestURI": "/api/v1/namespaces/team/pods?dryRun=All"}, "dry runs"),
        ({"responseStatus": {"code": 403, "message": "exceeded quota"}}, "something else"),
        ({"responseStatus": {"code": 500}}, "something else"),
    ],
)
def test_what_cannot_be_judged_is_said(more: dict[str, Any], reason: str) -> None:
    with pytest.raises(Unusable, match=reason):
        AuditLog().record("f:1", event(**more))


@pytest.mark.parametrize(
    "more",
    [
        {"objectRef": {"resource": "deployments", "apiGroup": "apps"}},
        {"objectRef": {"resource": "pods", "apiGroup": "metrics.k8s.io"}},
        {"objectRef": {"resource": "pods", "subresource": "status"}},
        {"objectRef": None},
        {"verb": "delete"},
        {"stage": "RequestReceived"},
    ],
)
def test_the_rest_of_the_log_is_passed_over(more: dict[str, Any]) -> None:
    assert AuditLog().record("f:1", event(**more)) is None


@pytest.mark.parametrize(
    "annotations",
    [
        {"mutation.webhook.admission.k8s.io/round_0_index_0": "{"},
        {"patch.webhook.admission.k8s.io/round_0_index_0": "[1]"},
        {"patch.webhook.admission.k8s.io/round_0_index_0": '{"webhook": "a.gpugate.dev", "patch": [1, {"path": 2}]}'},
        {"x.gpugate.dev/mode": "unheard-of", "y.gpugate.dev/findings": "deny\n\n: : :"},
        {"mutate.gpugate.dev": "no key"},
    ],
)
def test_odd_annotations_break_nothing(annotations: dict[str, str]) -> None:
    record = read(event(annotations))
    assert record.answered is not None
    assert record.answered.said == ()
    assert record.mode is None
