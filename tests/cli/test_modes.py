"""`gpugate modes` on a real API server: how namespaces stand, the way up the ladder, and the way back."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.report.snapshot import Snapshot
from tests.cli.conftest import Gpugate, Outcome
from tests.controlplane import ControlPlane, wait_for
from tests.support.cluster import MODE_LABEL, Installed, installed, nvidia_runtime_class
from tests.support.server import Server
from tests.support.workloads import BAD, CPU, GOOD, PATHS, create, custom_resource, deployment, pod, ray_cluster

GPU_NODE = {"accelerator": "nvidia-gpu"}
NOBODYS = ({"key": "gpugate.test/nobody", "effect": "NoSchedule"},)
"""Pods of other tests must not go there."""


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> ControlPlane:
    nvidia_runtime_class(control_plane)
    custom_resource(control_plane, "ray.io", "v1", "RayCluster", "rayclusters")
    return control_plane


@pytest.fixture(scope="module")
def gpu_node(plane: ControlPlane) -> Iterator[str]:
    """A node that answers to what the shipped policy injects."""
    name = "modes-gpu-node"
    plane.add_node(name, labels=GPU_NODE, taints=NOBODYS)
    yield name
    plane.client().delete(f"/api/v1/nodes/{name}")


@pytest.fixture
def modes(gpugate: Gpugate, plane: ControlPlane) -> Gpugate:
    """Run a command of ``gpugate modes`` with the shipped policy as the administrator."""

    def call(command: str, *arguments: str, policy: str = "shipped") -> Outcome:
        return gpugate("modes", command, "--policy", policy, "--kubeconfig", str(plane.kubeconfig), *arguments)

    return call


def label(plane: ControlPlane, namespace: str) -> str | None:
    labels: dict[str, str] = plane.client().get(f"/api/v1/namespaces/{namespace}").expect(200)["metadata"]["labels"]
    return labels.get(MODE_LABEL)


def policy(folder: Path, **spec: Any) -> str:
    """The shipped rules with other modes, exemptions or exceptions."""
    document = {
        "apiVersion": "gpugate.dev/v1alpha1",
        "kind": "GpuPolicy",
        "metadata": {"name": "p"},
        "spec": {
            "gpus": {"presets": ["nvidia"]},
            "rules": [
                {"rule": "limits-equal-requests", "repair": True},
                {"rule": "no-privileged"},
                {"rule": "runtime-class", "repair": True, "with": {"default": "nvidia", "allowed": ["nvidia"]}},
            ],
            **spec,
        },
    }
    path = folder / "policy.yaml"
    path.write_text(yaml.safe_dump(document))
    return str(path)


def test_the_way_up_and_back(plane: ControlPlane, modes: Gpugate, gpu_node: str) -> None:
    with Server("shipped", drains=False) as server, installed(plane, server) as made:
        namespace = made.namespace()
        create(plane, namespace, deployment("good", GOOD, 0), deployment("bad", BAD, 0))
        for target in ("warn", "assist"):
            outcome = modes("promote", namespace)
            assert outcome.code == 0, outcome.err
            assert outcome.out.endswith(f"namespace {namespace} is in {target} now (label {MODE_LABEL}={target})\n")
            assert label(plane, namespace) == target

        refused = modes("promote", namespace)
        assert refused.code == 1
        assert refused.out.splitlines()[:3] == [
            f"namespace {namespace}: assist -> enforce",
            "  would be refused: 1 workload",
            "    Deployment bad (0 pods)",
        ]
        assert 'gpu-pods/no-privileged: container "main"' in refused.out
        assert refused.err == "Not promoted: this breaks workloads. Mend that first, or --force.\n"
        assert label(plane, namespace) == "assist"

        path = f"{PATHS['Deployment'].format(namespace)}/bad"
        plane.client().put(path, deployment("bad", GOOD, 0)).expect(200)
        outcome = modes("promote", namespace)
        assert (outcome.code, label(plane, namespace)) == (0, "enforce")
        assert "nothing that is there breaks or changes" in outcome.out

        refusal = wait_for(lambda: _refusal(made, namespace), message="enforce to refuse")
        assert "gpu-pods/no-privileged" in refusal

        outcome = modes("demote", namespace)
        assert outcome.out == f"namespace {namespace}: enforce -> assist (label {MODE_LABEL}=assist)\n"
        wait_for(lambda: made.create(namespace, pod("let", BAD), dry_run=True).status == 201, message="assist")


def _refusal(made: Installed, namespace: str) -> str:
    answer = made.create(namespace, pod("new", BAD), dry_run=True)
    return str(answer.body["message"]) if answer.status == 403 else ""


def test_what_is_said_of_each_step(plane: ControlPlane, modes: Gpugate, gpu_node: str) -> None:
    namespace = plane.namespace("steps")
    create(plane, namespace, pod("good", GOOD), pod("bad", BAD))
    warn = modes("promote", namespace, "--dry-run")
    assert warn.out.splitlines()[:3] == [
        f"namespace {namespace}: audit -> warn",
        "  would be warned about: 2 workloads",
        "    Pod bad (1 pod)",
    ]
    assert '    Pod good (1 pod)\n      gpu-pods/runtime-class: runtimeClassName set to "nvidia"\n' in warn.out
    assist = modes("promote", namespace, "--to", "assist", "--dry-run")
    assert "  would be changed: 2 workloads" in assist.out
    assert 'runtimeClassName set to "nvidia"' in assist.out
    enforce = modes("promote", namespace, "--to", "enforce", "--dry-run")
    assert enforce.code == 1
    assert "  would be refused: 1 workload\n    Pod bad (1 pod)" in enforce.out
    assert "  would be changed: 1 workload\n    Pod good (1 pod)" in enforce.out
    assert label(plane, namespace) is None


def test_force_promotes_all_the_same(plane: ControlPlane, modes: Gpugate, gpu_node: str) -> None:
    namespace = plane.namespace("forced")
    create(plane, namespace, pod("bad", BAD))
    outcome = modes("promote", namespace, "--to", "enforce", "--force")
    assert (outcome.code, label(plane, namespace)) == (0, "enforce")


def test_a_selector_that_no_node_answers_to(plane: ControlPlane, modes: Gpugate, tmp_path: Path) -> None:
    namespace = plane.namespace("stuck")
    create(plane, namespace, pod("good", GOOD), pod("cpu", CPU))
    inject = [{"name": "pool", "nodeSelector": {"example.com/pool": "h100", "example.com/zone": "a"}}]
    path = policy(tmp_path, inject=inject)
    refused = modes("promote", namespace, "--to", "assist", policy=path)
    assert refused.code == 1
    said = "no node has the labels that it gets as its nodeSelector: example.com/pool=h100, example.com/zone=a"
    assert f"  would wait for ever: 1 workload\n    Pod good (1 pod)\n      {said}\n" in refused.out
    assert label(plane, namespace) is None
    assert modes("promote", namespace, "--to", "warn", "--dry-run", policy=path).code == 0
    plane.add_node("modes-h100", labels={"example.com/pool": "h100", "example.com/zone": "a"}, taints=NOBODYS)
    try:
        assert modes("promote", namespace, "--to", "assist", policy=path).code == 0
    finally:
        plane.client().delete("/api/v1/nodes/modes-h100")


def test_yaml_for_gitops(plane: ControlPlane, modes: Gpugate, gpu_node: str) -> None:
    namespace = plane.namespace("gitops")
    create(plane, namespace, pod("good", GOOD))
    outcome = modes("promote", namespace, "-o", "yaml")
    assert yaml.safe_load(outcome.out) == {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": namespace, "labels": {MODE_LABEL: "warn"}},
    }
    assert f"namespace {namespace}: audit -> warn" in outcome.err
    assert label(plane, namespace) is None
    plane.kubectl("apply", "-f", "-", input=outcome.out)
    assert label(plane, namespace) == "warn"
    down = modes("demote", namespace, "-o", "yaml")
    assert yaml.safe_load(down.out)["metadata"]["labels"] == {MODE_LABEL: "audit"}
    assert label(plane, namespace) == "warn"

    create(plane, namespace, pod("bad", BAD))
    refused = modes("promote", namespace, "--to", "enforce", "-o", "yaml")
    assert (refused.code, refused.out) == (1, "")


def test_what_the_label_does_not_decide(plane: ControlPlane, modes: Gpugate, tmp_path: Path) -> None:
    pinned, exempt, top = (plane.namespace(prefix) for prefix in ("pinned", "exempt", "top"))
    path = policy(
        tmp_path,
        modes={"labels": ["audit", "warn"], "namespaces": {pinned: "enforce"}},
        exempt={"namespaces": [exempt]},
    )
    for command in ("promote", "demote"):
        outcome = modes(command, pinned, policy=path)
        assert outcome.code == 2
        assert outcome.err == (
            f"Error: the policy pins namespace {pinned} to enforce: its label decides nothing. Change modes.namespaces "
            "in the policy file\n"
        )
        assert "Change exempt.namespaces in the policy file" in modes(command, exempt, policy=path).err
    assert (
        "does not let labels choose enforce, only: audit, warn"
        in modes("promote", top, "--to", "enforce", policy=path).err
    )
    assert modes("promote", top, policy=path).code == 0
    assert "has no stricter mode for labels (audit, warn)" in modes("promote", top, policy=path).err
    assert "audit is not stricter; see gpugate modes demote" in modes("promote", top, "--to", "audit", policy=path).err
    assert "warn is not weaker; see gpugate modes promote" in modes("demote", top, "--to", "warn", policy=path).err
    assert modes("demote", top, policy=path).code == 0
    assert "has no weaker mode for labels" in modes("demote", top, policy=path).err


def test_status(plane: ControlPlane, modes: Gpugate, tmp_path: Path) -> None:
    first = plane.namespace("status-a", {MODE_LABEL: "warn"})
    second = plane.namespace("status-b", {MODE_LABEL: "strict"})
    pinned = plane.namespace("status-c", {MODE_LABEL: "warn"})
    create(plane, first, pod("good", GOOD), pod("bad", BAD), pod("cpu", CPU), ray_cluster("ray", GOOD))
    # What is wrong elsewhere is not asked about.
    create(plane, plane.namespace("status-d"), {**ray_cluster("broken", GOOD), "spec": "none"})
    create(plane, first, {**pod("dcgm", BAD), "metadata": {"name": "dcgm", "labels": {"app": "dcgm"}}})
    exception = {"name": "soon", "rules": ["runtime-class"], "match": {"namespaces": [first]}, "owner": "a@b",
                 "reason": "R", "expires": "2199-01-01"}  # fmt: skip
    path = policy(
        tmp_path,
        modes={"namespaces": {pinned: "enforce"}},
        exempt={"pods": [{"namespace": first, "labels": {"app": "dcgm"}}]},
        exceptions=[exception],
    )
    outcome = modes("status", first, second, pinned, policy=path)
    assert outcome.code == 0, outcome.err
    rows = [line.split(maxsplit=9) for line in outcome.out.splitlines()]
    assert rows[0] == ["NAMESPACE", "MODE", "FROM", "NEXT", "GPU", "REFUSED", "CHANGED", "WARNED", "EXEMPT", "NOTES"]
    assert rows[1] == [first, "warn", "label", "assist", "4", "1", "2", "0", "1"]
    assert rows[2] == [second, "audit", "default", "warn", "0", "0", "0", "0", "0", 'its label "strict" means nothing']
    assert rows[3][:4] == [pinned, "enforce", "pinned", "-"]
    assert rows[3][9] == 'its label "warn" counts for nothing: the policy pins the mode'
    assert outcome.out.endswith("3 namespaces, 4 GPU workloads: enforce would refuse 1.\n")

    (found, *_) = modes("status", first, second, "-o", "json", policy=path).json()["namespaces"]
    assert found == {
        "name": first,
        "mode": "warn",
        "source": "label",
        "label": "warn",
        "labelValid": True,
        "next": "assist",
        "exempt": False,
        "workloads": {"gpu": 4, "exempt": 1, "refused": 1, "changed": 2, "warned": 0, "ready": 0},
        "exceptionsEnding": [],
    }


def test_status_and_plan_of_a_snapshot(gpugate: Gpugate, tmp_path: Path) -> None:
    file = tmp_path / "seen.json"
    file.write_bytes(SNAPSHOT.to_json())
    status = gpugate("modes", "status", "--snapshot", str(file))
    assert "exception mesh for no-privileged ends 2026-12-10" in status.out
    assert "exempt by the policy" in status.out
    plan = gpugate("modes", "plan", "--snapshot", str(file))
    assert (plan.code, status.code) == (0, 0)
    rows = [line.split(maxsplit=7) for line in plan.out.splitlines()]
    assert rows[0][0] == "NAMESPACE"
    assert [row[0] for row in rows[1:5]] == ["empty", "changes", "breaks-one", "breaks-two"]
    assert rows[2][1:] == ["audit", "warn", "1", "0", "1", "0", "-"]
    assert rows[4][7] == "Deployment big: gpu-pods/no-privileged"
    assert plan.out.endswith(
        "4 namespaces to promote, 2 of them ready for enforce; 1 at the top, 1 pinned by the policy, 1 exempt.\n"
    )
    assert 'there is no namespace "none"' in gpugate("modes", "status", "none", "--snapshot", str(file)).err
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    assert (
        "is no snapshot of gpugate scan: /takenAt: Field required"
        in gpugate("modes", "plan", "--snapshot", str(broken)).err
    )


def test_the_guard_of_the_label_is_heard(plane: ControlPlane, gpugate: Gpugate) -> None:
    namespace = plane.namespace("guarded")
    kubeconfig = str(plane.kubeconfig_for("no-rights-here"))
    outcome = gpugate("modes", "demote", namespace, "--policy", "shipped", "--kubeconfig", kubeconfig)
    assert outcome.code == 2
    assert outcome.err.startswith(f'Error: user "no-rights-here" may not get namespaces "{namespace}"')
    gone = gpugate("modes", "promote", "gone", "--policy", "shipped", "--kubeconfig", str(plane.kubeconfig))
    assert (gone.code, gone.err) == (2, 'Error: namespaces "gone" was not found in the cluster of context "test"\n')


def _state(name: str, *workloads: Any, **fields: Any) -> dict[str, Any]:
    given = {"mode": "audit", "source": "default", "label": None, "labelValid": True, "next": "warn", "exempt": False}
    return {"name": name, **given, "exceptions": [], **fields, "workloads": list(workloads)}


def _workload(name: str, state: str, pods: int = 1) -> dict[str, Any]:
    finding = {"policy": "gpu-pods", "rule": "no-privileged", "outcome": "deny", "containerKind": None,
               "container": None, "pointer": "/spec", "message": "privileged", "help": None}  # fmt: skip
    known = {"apiVersion": "apps/v1", "kind": "Deployment", "template": "/spec/template/spec", "gpu": True}
    findings = [finding] if state == "refused" else []
    return {**known, "name": name, "pods": pods, "exempt": None, "state": state, "findings": findings, "patch": []}


_EXCEPTION = {"name": "mesh", "rule": "no-privileged", "until": "2026-12-10", "owner": "a@b", "reason": "R"}
SNAPSHOT = Snapshot.from_json(
    json.dumps(
        {
            "version": 1,
            "takenAt": "2026-12-02T10:00:00Z",
            "cluster": {"context": "prod", "server": "https://10.0.0.1:6443"},
            "policies": [],
            "namespaces": [
                _state("breaks-two", _workload("small", "refused"), _workload("big", "refused", 9)),
                _state("breaks-one", _workload("one", "refused"), exceptions=[_EXCEPTION]),
                _state("changes", _workload("one", "changed")),
                _state("empty"),
                _state("exempted", exempt=True),
                _state("pinned", mode="enforce", source="pinned", next=None),
                _state("top", mode="enforce", source="label", label="enforce", next=None),
            ],
            "errors": [],
        }
    ).encode()
)
