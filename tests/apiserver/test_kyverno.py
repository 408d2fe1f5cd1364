"""A ClusterPolicy of Kyverno in front of the real API server: Kyverno's verdicts, and those of the shipped GpuPolicy.

The table holds what Kyverno itself answers to these pods, also where its policy is wrong, and what is right.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.apiserver.data import deployment
from tests.controlplane import ControlPlane
from tests.support.cluster import Installed, cpu_pod, gpu_pod, installed, nvidia_runtime_class
from tests.support.server import Server

POLICY = Path(__file__).resolve().parents[1] / "kyverno" / "gpu-resource-policy.yaml"
LIMITS = "gpu-resource-policy/require-gpu-limits"
PRIVILEGED = "gpu-resource-policy/deny-privileged-gpu-pods"
RUNTIME_CLASS = "gpu-resource-policy/require-nvidia-runtimeclass"
API_SERVER = "Limit must be set for non overcommitable resources"


@pytest.fixture(scope="module")
def kyverno(plane: ControlPlane) -> Iterator[Installed]:
    """A server with the ClusterPolicy alone, called for the namespaces of this module."""
    with Server(POLICY, drains=False) as server, installed(plane, server, POLICY) as made:
        yield made


def container(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "image": "registry.example.com/helper:1", **fields}


GPU = {"limits": {"nvidia.com/gpu": 1}}
SECURE = {"securityContext": {"privileged": True}}


def pod(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    made = gpu_pod("p", **spec)
    made["spec"]["containers"] += containers
    return made


def without_resources(made: dict[str, Any]) -> dict[str, Any]:
    del made["spec"]["containers"][0]["resources"]
    return made


def requesting_only(made: dict[str, Any]) -> dict[str, Any]:
    made["spec"]["containers"][0]["resources"] = {"requests": {"nvidia.com/gpu": 1}}
    return made


class Row(NamedTuple):
    """A pod; the rule by which Kyverno refuses it (None: admitted), and that by which the shipped policy does."""

    case: str
    pod: dict[str, Any]
    kyverno: str | None
    shipped: str | None


NVIDIA = {"runtimeClassName": "nvidia"}
VERDICTS = [
    Row("all right", pod(**NVIDIA), None, None),
    Row("no GPU at all", cpu_pod("p"), None, None),
    Row("limits only, which are requests too", pod(**NVIDIA), None, None),
    Row("no runtime class, which can be repaired", pod(), RUNTIME_CLASS, None),
    Row("another runtime class", pod(runtimeClassName="gvisor"), RUNTIME_CLASS, "gpu-pods/runtime-class"),
    Row("a sidecar without GPU", pod(container("logs"), **NVIDIA), LIMITS, None),
    Row("a privileged sidecar", pod(container("logs", **SECURE), **NVIDIA), PRIVILEGED, "gpu-pods/no-privileged"),
    Row(
        "a privileged native sidecar",
        pod(initContainers=[container("logs", restartPolicy="Always", **SECURE)], **NVIDIA),
        None,
        "gpu-pods/no-privileged",
    ),
    Row(
        "a GPU in an init container, privileged",
        without_resources(pod(initContainers=[container("warm", resources=GPU, **SECURE)])),
        None,
        "gpu-pods/no-privileged",
    ),
    # In Kyverno's policy a rule is there for it, whose message nobody ever sees: the API server refuses it before.
    Row("a request only, which can be repaired", requesting_only(pod(**NVIDIA)), API_SERVER, None),
]


@pytest.fixture(scope="module")
def namespaces(kyverno: Installed, shipped: Installed) -> dict[str, str]:
    nvidia_runtime_class(kyverno.plane, "gvisor")
    return {"kyverno": kyverno.namespace("enforce"), "shipped": shipped.namespace("enforce")}


@pytest.mark.parametrize("row", VERDICTS, ids=[row.case for row in VERDICTS])
def test_verdicts(kyverno: Installed, shipped: Installed, namespaces: dict[str, str], row: Row) -> None:
    for name, made, refused in (("kyverno", kyverno, row.kyverno), ("shipped", shipped, row.shipped)):
        answer = made.create(namespaces[name], row.pod, dry_run=True)
        if refused is None:
            answer.expect(201)
        else:
            said = answer.expect(403, 422)["message"]
            assert f"{refused}: " in said or refused == API_SERVER in said, f"{name}: {said}"


def test_a_privileged_ephemeral_container_is_missed_by_kyverno_and_not_by_the_shipped_policy(
    kyverno: Installed, shipped: Installed
) -> None:
    for made, code in ((kyverno, 0), (shipped, 1)):
        namespace = made.namespace("enforce")
        made.created(namespace, pod(**NVIDIA))
        debugged = made.plane.kubectl(
            "debug", "p", "-n", namespace, "--image=busybox", "--container=shell", "--profile=sysadmin",
            "--attach=false", "--", "sh", check=False,
        )  # fmt: skip
        assert debugged.returncode == code, debugged.stderr


@pytest.mark.parametrize("mode", ["audit", "warn", "assist"])
def test_the_namespaces_mode_is_the_weaker(kyverno: Installed, mode: str) -> None:
    namespace = kyverno.namespace(mode)
    kyverno.created(namespace, pod())
    findings = kyverno.record(namespace, "p", "findings")
    assert any(f"deny {RUNTIME_CLASS}: " in value for value in findings.values())


def test_an_update_is_judged_where_it_changes_what_kyverno_looks_at(kyverno: Installed) -> None:
    namespace = kyverno.namespace("assist")
    kyverno.created(namespace, pod())
    api = kyverno.plane.client()
    api.patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": {"gpugate.dev/mode": "enforce"}}}).expect(200)
    path = f"/api/v1/namespaces/{namespace}/pods/p"
    # What was wrong before stays as it was, which is no reason to refuse the update.
    api.patch(path, {"metadata": {"labels": {"team": "a"}}}).expect(200)
    api.patch(path, {"metadata": {"finalizers": ["example.com/held"]}}).expect(200)
    api.patch(path, {"metadata": {"finalizers": []}}).expect(200)


def test_whoever_applies_a_deployment_is_told_what_becomes_of_its_pods(kyverno: Installed) -> None:
    namespace = kyverno.namespace("enforce")
    made = deployment("d", dict(pod()["spec"]))
    applied = kyverno.plane.kubectl("apply", "-n", namespace, "-f", "-", input=json.dumps(made))
    assert f"Warning: pods of this Deployment would be refused: {RUNTIME_CLASS}: " in applied.stderr


MUTATING = """
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: gpu-scheduling}
spec:
  rules:
    - name: tolerate
      match: {any: [{resources: {kinds: [Pod], namespaces: ["t-*"]}}]}
      preconditions:
        all:
          - key: "{{ request.object.spec.containers[].resources.limits.\\"nvidia.com/gpu\\" || `[]` }}"
            operator: NotEquals
            value: []
      mutate:
        patchesJson6902: |-
          - {op: add, path: /spec/tolerations/-, value: {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}}
          - {op: add, path: /metadata/labels/accelerated, value: "yes"}
"""


def test_changes_are_made_where_the_mode_makes_them(plane: ControlPlane, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(MUTATING)
    with Server(policy, drains=False) as server, installed(plane, server, policy) as made:
        changed = made.created(made.namespace("enforce"), pod())
        assert changed["metadata"]["labels"] == {"accelerated": "yes"}
        assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in changed["spec"]["tolerations"]
        audited = made.namespace("audit")
        assert "labels" not in made.created(audited, pod())["metadata"]
        assert made.record(audited, "p", "changes")
        before = made.calls(endpoint="mutate")
        made.created(made.namespace("enforce"), cpu_pod("q"))
        assert made.calls(endpoint="mutate") == before + 1  # preconditions are not for CEL to tell
