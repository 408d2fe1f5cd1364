"""Reviews and policies for tests of the server."""

from __future__ import annotations

import base64
from typing import Any

import jsonpatch
import orjson

from tests.support.server import Reply

POLICY = """
apiVersion: gpugate.dev/v1alpha1
kind: GpuPolicy
metadata: {name: test}
spec:
  gpus: {presets: [nvidia]}
  modes: {default: audit, namespaces: {pinned: enforce, quiet: disabled}}
  exempt: {namespaces: [kube-system]}
  rules:
    - rule: limits-equal-requests
      repair: true
    - rule: no-privileged
"""


def gpu_pod(**spec: Any) -> dict[str, Any]:
    """A pod that asks for one GPU, by a request without a limit."""
    container = {"name": "main", "image": "example.com/a", "resources": {"requests": {"nvidia.com/gpu": "1"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "train"},
        "spec": {"containers": [container], **spec},
    }


def privileged_pod() -> dict[str, Any]:
    """A GPU pod that no mode but `enforce` lets through."""
    pod = gpu_pod()
    pod["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "1"}}
    pod["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    return pod


def review(pod: Any = None, **request: Any) -> dict[str, Any]:
    """A review of the creation of a pod."""
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "6f3a",
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "operation": "CREATE",
            "namespace": "team-a",
            "userInfo": {"username": "ada", "groups": ["ml"]},
            "object": gpu_pod() if pod is None else pod,
            "oldObject": None,
            "dryRun": False,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
            **request,
        },
    }


def response(reply: Reply) -> dict[str, Any]:
    """The response of an answered review, after a check that the API server would take it."""
    assert reply.status == 200
    assert reply.headers["content-type"] == "application/json"
    return check(reply.json)


def check(answer: Any) -> dict[str, Any]:
    """The response of an AdmissionReview that the API server would take.

    Source: k8s.io/apiserver pkg/admission/plugin/webhook/request/admissionreview.go VerifyAdmissionResponse.
    """
    assert answer["apiVersion"] == "admission.k8s.io/v1"
    assert answer["kind"] == "AdmissionReview"
    found: dict[str, Any] = answer["response"]
    assert isinstance(found["uid"], str)
    assert isinstance(found["allowed"], bool)
    assert ("patch" in found) == ("patchType" in found)
    assert found.get("patchType", "JSONPatch") == "JSONPatch"
    if not found["allowed"]:
        assert found["status"]["message"]
        assert 400 <= found["status"]["code"] < 600
        assert found["status"]["reason"]
    warnings = found.get("warnings", [])
    assert all(text and text.isprintable() for text in warnings)
    assert sum(map(len, warnings)) <= 4096
    for key, value in found.get("auditAnnotations", {}).items():
        assert key in {"mode", "findings", "changes", "exempt", "error"}
        assert isinstance(value, str)
    return found


def patched(pod: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """The pod with the patch of a response."""
    operations = orjson.loads(base64.b64decode(found["patch"]))
    result: dict[str, Any] = jsonpatch.apply_patch(pod, operations)
    return result
