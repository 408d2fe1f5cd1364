"""What goes on while gpugate is down or hangs: everything but new GPU pods in namespaces in enforce."""

import json
import os
import signal
import time
from collections.abc import Iterator

import pytest

from tests.controlplane import ControlPlane, wait_for
from tests.support.cluster import Installed, cpu_pod, gpu_pod, installed
from tests.support.server import Server

MODES = ("audit", "warn", "assist", "enforce")
FAIL_OPEN = ("audit", "warn", "assist")
# What the configurations give gpugate in the modes that go on without it: one second for each of two calls.
DELAY_SECONDS = 2.0
SLACK_SECONDS = 1.5


@pytest.fixture
def gate(plane: ControlPlane) -> Iterator[Installed]:
    with Server("shipped", drains=False) as server, installed(plane, server) as made:
        yield made


@pytest.fixture
def down(gate: Installed) -> dict[str, str]:
    """The namespaces by mode. In each, the pod `running`, created while gpugate was up; now it is down."""
    namespaces = {mode: gate.namespace(mode) for mode in MODES}
    for namespace in namespaces.values():
        gate.wait_until_known(namespace)
        pod = gpu_pod("running")
        pod["metadata"]["finalizers"] = ["example.com/held"]
        gate.created(namespace, pod)
    gate.server.stop()
    return namespaces


def test_only_new_gpu_pods_in_enforce_are_refused_while_it_is_down(gate: Installed, down: dict[str, str]) -> None:
    for mode in FAIL_OPEN:
        gate.created(down[mode], gpu_pod("new"))
    refused = gate.create(down["enforce"], gpu_pod("new"))
    assert refused.status == 500
    assert "failed calling webhook" in refused.body["message"]
    for namespace in down.values():
        gate.created(namespace, cpu_pod("cpu"))
        tolerant = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
        gate.created(namespace, cpu_pod("cpu-tolerating", tolerations=tolerant))


def test_running_gpu_pods_stay_editable_jobs_finish_and_namespaces_end(gate: Installed, down: dict[str, str]) -> None:
    plane, namespace = gate.plane, down["enforce"]
    path = f"/api/v1/namespaces/{namespace}/pods/running"
    plane.client().patch(path, {"metadata": {"labels": {"edited": "yes"}}}).expect(200)
    plane.client().patch(path, {"metadata": {"finalizers": None}}).expect(200)
    plane.kubectl("delete", "namespace", namespace, "--timeout=60s", timeout=90)


def test_a_job_whose_gpu_pod_succeeds_finishes_while_it_is_down(gate: Installed) -> None:
    plane, namespace = gate.plane, gate.namespace("enforce")
    gate.wait_until_known(namespace)
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "train"},
        "spec": {"template": {"spec": {**gpu_pod()["spec"], "restartPolicy": "Never"}}},
    }
    plane.kubectl("apply", "-n", namespace, "-f", "-", input=json.dumps(job))
    pods = f"/api/v1/namespaces/{namespace}/pods"
    (pod,) = wait_for(lambda: plane.client().get(pods).expect(200)["items"], message="the Job's pod")
    assert "batch.kubernetes.io/job-tracking" in pod["metadata"]["finalizers"]
    gate.server.stop()
    status = {"status": {"phase": "Succeeded"}}
    plane.client().patch(f"{pods}/{pod['metadata']['name']}/status", status).expect(200)
    # The controller must take its finalizer off the pod, an update of a GPU pod, before it counts it.
    plane.kubectl("wait", "-n", namespace, "--for=condition=complete", "job/train", "--timeout=60s", timeout=90)


def test_a_hanging_server_delays_by_no_more_than_the_timeouts(gate: Installed) -> None:
    namespaces = {mode: gate.namespace(mode) for mode in FAIL_OPEN}
    for namespace in namespaces.values():
        gate.wait_until_known(namespace)
    os.kill(gate.server.pid, signal.SIGSTOP)
    try:
        for mode, namespace in namespaces.items():
            started = time.monotonic()
            gate.created(namespace, gpu_pod("delayed"))
            took = time.monotonic() - started
            assert took < DELAY_SECONDS + SLACK_SECONDS, f"{mode} took {took:.1f} s"
            started = time.monotonic()
            gate.created(namespace, cpu_pod("cpu"))
            assert time.monotonic() - started < SLACK_SECONDS, "a pod without GPUs waited for gpugate"
    finally:
        os.kill(gate.server.pid, signal.SIGCONT)
