"""gpugate in front of a real API server, for the namespaces of one test only."""

import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.controlplane import ControlPlane, Response, wait_for
from tests.support.server import Server

TEST_LABEL = "gpugate.test/run"
MODE_LABEL = "gpugate.dev/mode"
PROBE = "gpugate-probe"
PHASES = {"MutatingWebhookConfiguration": "mutate", "ValidatingWebhookConfiguration": "validate"}
KINDS = {
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}


def gpu_pod(name: str = "gpu", gpus: Any = 1, **spec: Any) -> dict[str, Any]:
    """A pod whose one container asks for GPUs under limits."""
    container = {
        "name": "main",
        "image": "registry.example.com/model:1",
        "resources": {"limits": {"nvidia.com/gpu": gpus}},
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container], **spec}}


def cpu_pod(name: str = "cpu", **spec: Any) -> dict[str, Any]:
    """A pod without GPUs."""
    container = {"name": "main", "image": "registry.example.com/web:1", "resources": {"requests": {"cpu": "10m"}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container], **spec}}


def nvidia_runtime_class(plane: ControlPlane, name: str = "nvidia") -> None:
    """The RuntimeClass of the seed document, there once for all tests."""
    runtime_class = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": name},
        "handler": name,
        "overhead": {"podFixed": {"cpu": "100m", "memory": "128Mi"}},
    }
    if name == "nvidia":
        toleration = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
        runtime_class["scheduling"] = {"nodeSelector": {"accelerator": "nvidia-gpu"}, "tolerations": [toleration]}
    plane.client().post("/apis/node.k8s.io/v1/runtimeclasses", runtime_class).expect(201, 409)

    def usable() -> bool:
        # The admission plugin reads classes from a cache.
        pod = cpu_pod("probe", runtimeClassName=name)
        return plane.client().post("/api/v1/namespaces/default/pods?dryRun=All", pod).status == 201

    wait_for(usable, message=f"RuntimeClass {name} known to the API server")


class Installed:
    """A server's webhook configurations in a control plane, selecting only the namespaces made here."""

    def __init__(self, plane: ControlPlane, server: Server, run: str, phases: list[str]) -> None:
        self.plane = plane
        self.server = server
        self.run = run
        self.phases = phases

    def namespace(self, mode: str | None = None, labels: Mapping[str, str] | None = None) -> str:
        """A new namespace under gpugate, with a mode label if one is given."""
        chosen = {MODE_LABEL: mode} if mode else {}
        return self.plane.namespace(f"t-{mode or 'plain'}", {TEST_LABEL: self.run, **chosen, **(labels or {})})

    def create(self, namespace: str, pod: dict[str, Any], *, dry_run: bool = False) -> Response:
        """POST the pod."""
        query = "?dryRun=All" if dry_run else ""
        return self.plane.client().post(f"/api/v1/namespaces/{namespace}/pods{query}", pod)

    def created(self, namespace: str, pod: dict[str, Any]) -> dict[str, Any]:
        """POST the pod, which must succeed; what the API server stored."""
        return self.create(namespace, pod).expect(201)

    def pod(self, namespace: str, name: str) -> dict[str, Any]:
        return self.plane.client().get(f"/api/v1/namespaces/{namespace}/pods/{name}").expect(200)

    def calls(self, **labels: str) -> float:
        """How many reviews the server has answered, of those with these labels."""
        return sum(
            value
            for (name, found), value in self.server.metrics().items()
            if name == "gpugate_reviews_total" and labels.items() <= dict(found).items()
        )

    def annotations(self, namespace: str, name: str) -> dict[str, str]:
        """The annotations that gpugate left in the audit events of a pod's creation."""
        found: dict[str, str] = {}
        for event in self.plane.audit_events(namespace=namespace, resource="pods", name=name, verb="create"):
            for key, value in (event.get("annotations") or {}).items():
                if ".gpugate.dev/" in key:
                    found[key] = value
        return found

    def record(self, namespace: str, name: str, *parts: str) -> dict[str, str]:
        """The annotations, once there are all of these parts: ``mode``, ``findings``, ``changes``."""

        def complete() -> dict[str, str] | None:
            found = self.annotations(namespace, name)
            return found if set(parts) <= {key.partition("/")[2] for key in found} else None

        return wait_for(complete, message=f"{', '.join(parts)} of {namespace}/{name} in the audit log")

    def wait_until_known(self, namespace: str) -> None:
        """Wait until the API server calls the server for a namespace: it learns of labels with a delay."""

        def called() -> bool:
            before = {phase: self.calls(endpoint=phase) for phase in self.phases}
            self.create(namespace, cpu_pod(PROBE), dry_run=True)
            return all(self.calls(endpoint=phase) > count for phase, count in before.items())

        wait_for(called, message=f"gpugate to be called for {namespace}")


@contextmanager
def installed(
    plane: ControlPlane,
    server: Server,
    policy: Path | str = "shipped",
    run: str | None = None,
    url: str | None = None,
) -> Iterator[Installed]:
    """The configurations of `gpugate manifests` for the policy, narrowed to one test, until the end.

    They call the server, or what stands in front of it at ``url``.
    """
    run = run or uuid.uuid4().hex[:8]
    objects = [obj for obj in manifests(server, policy, url) if obj["kind"] in KINDS and obj.get("webhooks")]
    own = {"key": TEST_LABEL, "operator": "In", "values": [run]}
    for obj in objects:
        obj["metadata"]["name"] += f"-{run}"
        for webhook in obj["webhooks"]:
            webhook["namespaceSelector"].setdefault("matchExpressions", []).append(own)
        obj["webhooks"].append(_probe(obj["webhooks"][0], PHASES[obj["kind"]], own))
    phases = [PHASES[obj["kind"]] for obj in objects]
    api = plane.client()
    paths = []
    try:
        for obj in objects:
            collection = f"/apis/admissionregistration.k8s.io/v1/{KINDS[obj['kind']]}"
            api.post(collection, obj).expect(201)
            paths.append(f"{collection}/{obj['metadata']['name']}")
        made = Installed(plane, server, run, phases)
        made.wait_until_known(made.namespace())
        yield made
    finally:
        for path in paths:
            api.delete(path)


def _probe(webhook: dict[str, Any], phase: str, own: dict[str, Any]) -> dict[str, Any]:
    """An entry of the same configuration that is called for pods named PROBE, whatever the policy looks at."""
    base, *_path, digest = webhook["clientConfig"]["url"].rsplit("/", webhook["clientConfig"]["url"].count("/") - 2)
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    return webhook | {
        "name": f"probe-{phase}.gpugate.dev",
        "rules": [rule],
        "clientConfig": webhook["clientConfig"] | {"url": f"{base}/{phase}/audit/{digest}"},
        "namespaceSelector": {"matchExpressions": [own]},
        "matchConditions": [{"name": "probe", "expression": f'object.metadata.name == "{PROBE}"'}],
        "failurePolicy": "Ignore",
    }


def manifests(server: Server, policy: Path | str, url: str | None = None) -> list[dict[str, Any]]:
    """What `gpugate manifests` prints for the server, or for what stands in front of it."""
    command = [sys.executable, "-P", "-m", "app.cli", "manifests", "--policy", str(policy), "--url", url or server.url]
    result = subprocess.run([*command, "--ca-file", str(server.ca_file)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return [obj for obj in yaml.safe_load_all(result.stdout) if obj]
