"""What users read in their terminal when they apply what makes pods, or set a namespace's mode."""

import json
import signal
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver.data import deployment
from tests.controlplane import ControlPlane, Response, wait_for
from tests.support.cluster import MODE_LABEL, Installed, cpu_pod, gpu_pod, installed
from tests.support.server import Server

APPS = "/apis/apps/v1/namespaces/{}/deployments"
PRIVILEGED = gpu_pod()["spec"]
PRIVILEGED["containers"][0]["securityContext"] = {"privileged": True}
REASON = (
    'gpu-pods/no-privileged: container "main": privileged is true, which lets it use every GPU of the node; set '
    "securityContext.privileged to false"
)


def job(spec: dict[str, Any], name: str = "train") -> dict[str, Any]:
    template = {"spec": {"restartPolicy": "Never", **spec}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": template}}


def cron_job(spec: dict[str, Any], name: str = "nightly") -> dict[str, Any]:
    made = {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": job(spec)["spec"]}}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": name}, "spec": made}


def apply(made: Installed, namespace: str, obj: dict[str, Any]) -> list[str]:
    """The warnings that kubectl prints; the object must be accepted."""
    said = made.plane.kubectl("apply", "-n", namespace, "-f", "-", input=json.dumps(obj)).stderr
    return said.splitlines()


def warned(response: Response) -> list[str]:
    return response.headers.get_all("Warning") or []


@pytest.mark.parametrize("make", [lambda spec: deployment("web", spec), job, cron_job], ids=["apps", "job", "cronjob"])
def test_kubectl_apply_tells_that_pods_would_be_refused(shipped: Installed, make: Any) -> None:
    namespace = shipped.namespace("enforce")
    shipped.wait_until_known(namespace)
    obj = make(PRIVILEGED)
    assert apply(shipped, namespace, obj) == [f"Warning: pods of this {obj['kind']} would be refused: {REASON}"]


def test_updates_are_warned_about_when_the_template_changes(shipped: Installed) -> None:
    namespace = shipped.namespace("enforce")
    shipped.wait_until_known(namespace)
    path = APPS.format(namespace)
    api = shipped.plane.client()
    assert warned(api.post(path, deployment("web", PRIVILEGED, 0)))
    before = shipped.calls(endpoint="advise")
    assert warned(api.patch(f"{path}/web", {"spec": {"replicas": 1}, "metadata": {"labels": {"a": "b"}}})) == []
    assert warned(api.patch(f"{path}/web/scale", {"spec": {"replicas": 0}})) == []
    assert shipped.calls(endpoint="advise") == before
    changed = {"spec": {"template": {"metadata": {"annotations": {"restarted": "now"}}}}}
    assert len(warned(api.patch(f"{path}/web", changed))) == 1
    # What the controllers made of it is not asked about.
    api.patch(f"{path}/web/scale", {"spec": {"replicas": 1}}).expect(200)
    shipped.server.wait_for_log("decision", lambda line: line["object"].startswith("web-"), timeout=30)
    lines = [line for line in shipped.server.logs("decision") if line["namespace"] == namespace]
    assert {line["object"] for line in lines if line["phase"] == "advise"} == {"web"}


def test_templates_without_gpus_are_not_sent(shipped: Installed) -> None:
    namespace = shipped.namespace("enforce")
    shipped.wait_until_known(namespace)
    before = shipped.calls(endpoint="advise")
    assert apply(shipped, namespace, deployment("web", cpu_pod()["spec"], 0)) == []
    assert shipped.calls(endpoint="advise") == before
    assert apply(shipped, namespace, deployment("good", gpu_pod()["spec"], 0)) == []
    assert shipped.calls(endpoint="advise") == before + 1


def test_the_other_modes(shipped: Installed) -> None:
    said = {}
    for mode in ("audit", "warn", "assist"):
        namespace = shipped.namespace(mode)
        shipped.wait_until_known(namespace)
        said[mode] = apply(shipped, namespace, deployment("web", PRIVILEGED, 0))
    assert said["audit"] == []
    assert said["assist"] == [f"Warning: pods of this Deployment: {REASON}"]
    assert said["warn"][0] == said["assist"][0]
    assert (
        'Warning: pods of this Deployment would be changed: gpu-pods/runtime-class: runtimeClassName set to "nvidia"'
        in said["warn"]
    )


POLICY = """
apiVersion: gpugate.dev/v1alpha1
kind: GpuPolicy
metadata: {name: gpu-pods}
spec:
  gpus: {presets: [nvidia]}
  modes: {default: audit}
  rules:
    - rule: no-privileged
  workloads:
    kinds: [{resource: GROUP_RESOURCE, kind: Rocket, paths: [/spec/stages/*/template/spec]}]
    refuse: [jobs.batch, GROUP_RESOURCE]
"""


def rockets(plane: ControlPlane) -> str:
    """A custom resource of the cluster, whose controller would make pods; its group."""
    group = f"g{uuid.uuid4().hex[:8]}.example.com"
    names = {"plural": "rockets", "singular": "rocket", "kind": "Rocket", "listKind": "RocketList"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": name, "served": True, "storage": name == "v1", "schema": schema} for name in ("v1", "v2")]
    spec = {"group": group, "names": names, "scope": "Namespaced", "versions": versions}
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}
    crd["metadata"] = {"name": f"rockets.{group}"}
    api = plane.client()
    api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd).expect(201)
    wait_for(lambda: api.get(f"/apis/{group}/v2/namespaces/default/rockets").status == 200, message="rockets served")
    return group


@pytest.fixture(scope="module")
def group(plane: ControlPlane) -> Iterator[str]:
    group = rockets(plane)
    yield group
    plane.client().delete(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/rockets.{group}")


@pytest.fixture(scope="module")
def refusing(plane: ControlPlane, group: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    policy = tmp_path_factory.mktemp("policy") / "policy.yaml"
    policy.write_text(POLICY.replace("GROUP_RESOURCE", f"rockets.{group}"))
    with Server(policy, drains=False) as server, installed(plane, server, policy) as made:
        yield made


def rocket(group: str, *specs: dict[str, Any], version: str = "v1") -> dict[str, Any]:
    stages = [{"template": {"spec": spec}} for spec in specs]
    metadata = {"name": "saturn"}
    return {"apiVersion": f"{group}/{version}", "kind": "Rocket", "metadata": metadata, "spec": {"stages": stages}}


def test_a_kind_that_is_to_be_whole_or_not_at_all_is_refused(refusing: Installed, group: str) -> None:
    namespace = refusing.namespace("enforce")
    refusing.wait_until_known(namespace)
    api = refusing.plane.client()
    for version in ("v1", "v2"):
        path = f"/apis/{group}/{version}/namespaces/{namespace}/rockets"
        refused = api.post(path, rocket(group, cpu_pod()["spec"], PRIVILEGED, version=version))
        assert refused.status == 403
        assert refused.body["message"] == (
            'admission webhook "advise-enforce-refused.gpugate.dev" denied the request: pods of this Rocket '
            f"(/spec/stages/1/template/spec) would be refused: {REASON}"
        )
    refused = api.post(f"/apis/batch/v1/namespaces/{namespace}/jobs", job(PRIVILEGED))
    assert refused.status == 403
    assert f"pods of this Job would be refused: {REASON}" in refused.body["message"]
    # What the policy does not name is warned about.
    assert len(apply(refusing, namespace, deployment("web", PRIVILEGED, 0))) == 1


def test_an_update_of_such_a_kind_is_warned_about(refusing: Installed, group: str) -> None:
    namespace = refusing.namespace("enforce")
    refusing.wait_until_known(namespace)
    path = f"/apis/{group}/v1/namespaces/{namespace}/rockets"
    api = refusing.plane.client()
    created = api.post(path, rocket(group, gpu_pod()["spec"], cpu_pod()["spec"]))
    assert (created.status, warned(created)) == (201, [])
    updated = api.patch(f"{path}/saturn", {"spec": rocket(group, PRIVILEGED)["spec"]})
    assert updated.status == 200
    assert warned(updated) == [
        f'299 - "pods of this Rocket would be refused: {REASON}"'.replace('"main"', '\\"main\\"')
    ]
    # The same templates again, and all else may change.
    assert warned(api.patch(f"{path}/saturn", {"spec": {"engines": 5}})) == []


@pytest.mark.parametrize("mode", ["audit", "warn", "assist"])
def test_such_a_kind_is_admitted_in_other_modes(refusing: Installed, group: str, mode: str) -> None:
    namespace = refusing.namespace(mode)
    refusing.wait_until_known(namespace)
    path = f"/apis/{group}/v1/namespaces/{namespace}/rockets"
    created = refusing.plane.client().post(path, rocket(group, PRIVILEGED))
    assert created.status == 201
    assert len(warned(created)) == (0 if mode == "audit" else 1)


def test_without_the_server_only_such_kinds_wait_for_it(plane: ControlPlane, group: str, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY.replace("GROUP_RESOURCE", f"rockets.{group}"))
    with Server(policy, drains=False) as server, installed(plane, server, policy) as made:
        namespace = made.namespace("enforce")
        made.wait_until_known(namespace)
        server.stop(signal.SIGKILL)
        api = plane.client()
        created = api.post(APPS.format(namespace), deployment("web", PRIVILEGED, 0))
        assert (created.status, warned(created)) == (201, [])
        path = f"/apis/{group}/v1/namespaces/{namespace}/rockets"
        assert api.post(path, rocket(group, PRIVILEGED)).status == 500
        # A Job without GPUs, and the label of the namespace, are nothing that it is asked about or waited for.
        assert api.post(f"/apis/batch/v1/namespaces/{namespace}/jobs", job(cpu_pod()["spec"])).status == 201
        labels = {"metadata": {"labels": {MODE_LABEL: "warn"}}}
        assert api.patch(f"/api/v1/namespaces/{namespace}", labels).status == 200


@pytest.fixture
def following(plane: ControlPlane, tmp_path: Path) -> Iterator[tuple[Installed, Path]]:
    """A server with cluster facts, and the file that they are in."""
    facts = tmp_path / "facts.json"
    with Server(drains=False, cluster_facts=facts) as server, installed(plane, server) as made:
        yield made, facts


def label(made: Installed, namespace: str, value: str) -> list[str]:
    """What kubectl says to a label."""
    said = made.plane.kubectl("label", "--overwrite", "namespace", namespace, f"{MODE_LABEL}={value}").stderr
    return said.splitlines()


def test_a_stricter_mode_names_running_workloads_that_it_would_refuse(following: tuple[Installed, Path]) -> None:
    made, facts = following
    namespace = made.namespace("audit")
    made.wait_until_known(namespace)
    assert label(made, namespace, "enforce") == [
        f"Warning: enforce: what runs in {namespace} is not known here; `gpugate modes plan` tells what it would refuse"
    ]

    rules = ["gpu-pods/no-privileged"]
    workload = {"kind": "Deployment", "name": "web", "pods": 2, "rules": rules}
    found = {"gpuWorkloads": 3, "refused": 3, "examples": [workload, workload | {"name": "api", "pods": 1}]}
    content = {"version": 1, "collectedAt": datetime.now(UTC).isoformat(), "namespaces": {namespace: found}}
    facts.write_text(json.dumps(content))
    made.server.wait_for_log("cluster_facts", lambda line: line["state"] == "fresh")
    for mode in ("audit", "warn", "assist"):
        assert label(made, namespace, mode) == []  # nothing is refused in them
    assert label(made, namespace, "enforce") == [
        f"Warning: enforce refuses new pods of 3 workloads that run in {namespace}:",
        "Warning: Deployment web (2 pods): gpu-pods/no-privileged",
        "Warning: Deployment api (1 pod): gpu-pods/no-privileged",
        "Warning: and 1 more; `gpugate modes plan` tells all",
    ]
    assert label(made, namespace, "enforce") == []
    assert made.plane.kubectl("label", "namespace", namespace, "team=a").stderr == ""


def test_a_mode_that_means_nothing_is_warned_about(shipped: Installed) -> None:
    namespace = shipped.namespace()
    shipped.wait_until_known(namespace)
    assert label(shipped, namespace, "enfroce") == [
        f'Warning: {MODE_LABEL}="enfroce" means nothing: the policy lets labels choose audit, warn, assist, enforce',
        f"Warning: the namespace {namespace} is in the policy's default mode, audit",
    ]
