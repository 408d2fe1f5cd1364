"""Taking Kyverno's place on a cluster, by the script that is shipped for it.

Kyverno's custom resources are in the API server, and its webhook is played by a gpugate that serves its policy alone,
which answers as Kyverno does (test_kyverno.py).
"""

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.controlplane import ControlPlane, wait_for
from tests.support.cluster import TEST_LABEL, Installed, gpu_pod, installed, manifests
from tests.support.server import Server

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "deploy" / "from-kyverno" / "take-over.sh"
POLICY = ROOT / "tests" / "kyverno" / "gpu-resource-policy.yaml"
CRDS = ROOT.parent / "shared" / "crds"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


@pytest.fixture(scope="module")
def kinds(plane: ControlPlane) -> None:
    """Kyverno's custom resources. They lie beside the project, not in it."""
    files = [CRDS / f"kyverno.io_{name}.yaml" for name in ("clusterpolicies", "policies")]
    if not all(file.is_file() for file in files):
        said = f"Kyverno's custom resource definitions are not at {CRDS}"
        if os.environ.get("CI") or os.environ.get("GPUGATE_REQUIRE_CONTROL_PLANE"):
            pytest.fail(said)
        pytest.skip(said)
    api = plane.client()
    for file in files:
        definition = yaml.safe_load(file.read_bytes())
        api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition).expect(201, 409)
    paths = [f"/apis/kyverno.io/v1/{name}" for name in ("clusterpolicies", "policies")]
    wait_for(lambda: all(api.get(path).status == 200 for path in paths), message="Kyverno's kinds in the API server")


@contextmanager
def kyverno(plane: ControlPlane, run: str) -> Iterator[str]:
    """A webhook of Kyverno's for the namespaces of a run, under its own name and label; the name."""
    with Server(POLICY, drains=False) as server:
        found = [each for each in manifests(server, POLICY) if each["kind"] == "ValidatingWebhookConfiguration"]
        (configuration,) = [each for each in found if each.get("webhooks")]
        name = configuration["metadata"]["name"] = f"kyverno-resource-validating-webhook-cfg-{run}"
        configuration["metadata"]["labels"] = {"webhook.kyverno.io/managed-by": f"kyverno-{run}"}
        entries = [each for each in configuration["webhooks"] if "/validate/enforce" in each["clientConfig"]["url"]]
        for each in entries:
            each["namespaceSelector"] = {"matchLabels": {TEST_LABEL: run}}
        configuration["webhooks"] = entries
        plane.client().post(WEBHOOKS, configuration).expect(201)
        try:
            yield name
        finally:
            plane.client().delete(f"{WEBHOOKS}/{name}")


class Steps:
    """The script, in a folder of its own."""

    def __init__(self, plane: ControlPlane, folder: Path, run: str = "none", kubeconfig: Path | None = None) -> None:
        self.folder = folder
        kubeconfig = kubeconfig or plane.kubeconfig
        gpugate = folder / "gpugate"
        gpugate.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m app.cli "$@"\n')
        kubectl = folder / "kubectl"
        program = plane.programs / "kubectl"
        kubectl.write_text(f'#!/bin/sh\nexec {program} --kubeconfig={kubeconfig} "$@"\n')
        for file in (gpugate, kubectl):
            file.chmod(0o755)
        self._environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "KUBECONFIG": str(kubeconfig),
            "GPUGATE": str(gpugate),
            "KUBECTL": str(kubectl),
            "KYVERNO_SELECTOR": f"webhook.kyverno.io/managed-by=kyverno-{run}",
        }

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["sh", str(SCRIPT), *arguments]
        return subprocess.run(
            command, cwd=self.folder, env=self._environment, capture_output=True, text=True, check=False, timeout=120
        )


def with_sidecar() -> dict[str, Any]:
    pod = gpu_pod("with-sidecar", runtimeClassName="nvidia")
    pod["spec"]["containers"].append({"name": "metrics", "image": "registry.example.com/metrics:1"})
    return pod


def in_init() -> dict[str, Any]:
    pod = gpu_pod("in-init")
    (container,) = pod["spec"]["containers"]
    pod["spec"]["initContainers"] = [{**container, "name": "warm-up"}]
    pod["spec"]["containers"] = [{"name": "serve", "image": "registry.example.com/serve:1"}]
    return pod


def refused(made: Installed, namespace: str, pod: dict[str, Any]) -> str:
    """The message of the refusal; "" where the pod is admitted."""
    answer = made.create(namespace, pod, dry_run=True)
    return "" if answer.status == 201 else str(answer.expect(403)["message"])


def test_the_whole_way(plane: ControlPlane, kinds: None, tmp_path: Path) -> None:
    run = uuid.uuid4().hex[:8]
    steps = Steps(plane, tmp_path, run)
    original = yaml.safe_load(POLICY.read_bytes())
    name = original["metadata"]["name"]
    plane.client().post("/apis/kyverno.io/v1/clusterpolicies", original).expect(201)
    recorded = tmp_path / "recorded"
    with kyverno(plane, run) as webhook:
        # read
        done = steps("read")
        assert done.returncode == 0, done.stderr
        assert f"{name}/require-gpu-limits: better -> rule limits-equal-requests" in done.stdout
        policy = yaml.safe_load((tmp_path / "gpugate.yaml").read_bytes())
        assert policy["spec"]["modes"] == {"default": "audit"}
        kept = yaml.safe_load((tmp_path / "kyverno.yaml").read_bytes())
        assert {"apiVersion", "kind", "metadata", "spec"} == set(kept)
        assert kept["metadata"] == {"name": name}

        # Both are installed; gpugate audits.
        extra = ["--record", str(recorded)]
        ours = tmp_path / "gpugate.yaml"
        with Server(ours, drains=False, extra=extra) as server, installed(plane, server, ours, run) as made:
            namespace = made.namespace("audit")
            made.wait_until_known(namespace)

            def kyverno_answers() -> bool:
                return f"{name}/require-gpu-limits" in refused(made, namespace, with_sidecar())

            wait_for(kyverno_answers, message="the webhook of Kyverno")
            for pod in (with_sidecar(), in_init()):  # dry runs are not recorded
                pod["metadata"]["name"] += "-recorded"
                made.create(namespace, pod)
            wait_for(
                lambda: server.metric("gpugate_recorded_reviews_total", result="written") >= 2, message="the recording"
            )

            # compare
            done = steps("compare", str(recorded))
            assert done.returncode == 1, done.stderr
            assert f"{name}/runtime-class" in done.stdout.partition("newly refused")[2]
            assert "no longer refused" in done.stdout

            # switch: gpugate enforces, and Kyverno still does
            done = steps("switch", namespace)
            assert done.returncode == 0, done.stderr
            wait_for(
                lambda: f"{name}/runtime-class" in refused(made, namespace, in_init()), message="gpugate to enforce"
            )
            assert f"{name}/require-gpu-limits" in refused(made, namespace, with_sidecar())

            # Kyverno goes
            done = steps("retire")
            assert done.returncode == 0, done.stderr
            plane.client().get(f"/apis/kyverno.io/v1/clusterpolicies/{name}").expect(404)
            done = steps("remove-webhooks")
            assert done.returncode == 0, done.stderr
            plane.client().get(f"{WEBHOOKS}/{webhook}").expect(404)
            wait_for(lambda: refused(made, namespace, with_sidecar()) == "", message="Kyverno's webhook to be gone")
            assert f"{name}/runtime-class" in refused(made, namespace, in_init())

            # and back
            assert steps("back", namespace).returncode == 0
            wait_for(lambda: refused(made, namespace, in_init()) == "", message="gpugate to audit")


@pytest.mark.parametrize("arguments", [(), ("jump",), ("switch",), ("back",), ("compare",)])
def test_wrong_usage(plane: ControlPlane, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = Steps(plane, tmp_path)(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("take-over.sh read ")


def test_a_cluster_without_kyverno(plane: ControlPlane, tmp_path: Path) -> None:
    """An API server that does not know the kinds: here a path that only leads to one."""
    config = yaml.safe_load(plane.kubeconfig.read_bytes())
    config["clusters"][0]["cluster"]["server"] += "/api"
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(config))
    done = Steps(plane, tmp_path, kubeconfig=kubeconfig)("read")
    assert done.returncode == 2
    assert "there are no policies of Kyverno in" in done.stderr
