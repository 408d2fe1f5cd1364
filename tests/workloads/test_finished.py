"""Objects that have come to their end, by what each kind's status says."""

from typing import Any

import pytest

from app.workloads.finished import finished


def obj(kind: str, api_version: str, **status: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "status": status}


def condition(name: str, status: str = "True") -> list[dict[str, str]]:
    return [{"type": "Other", "status": "True"}, {"type": name, "status": status}]


@pytest.mark.parametrize(
    "done",
    [
        obj("Pod", "v1", phase="Succeeded"),
        obj("Pod", "v1", phase="Failed"),
        obj("Job", "batch/v1", conditions=condition("Complete")),
        obj("Job", "batch/v1", conditions=condition("Failed")),
        obj("PyTorchJob", "kubeflow.org/v1", conditions=condition("Succeeded")),
        obj("JobSet", "jobset.x-k8s.io/v1alpha2", conditions=condition("Completed")),
        obj("TrainJob", "trainer.kubeflow.org/v1alpha1", conditions=condition("Complete")),
        obj("Workload", "kueue.x-k8s.io/v1beta1", conditions=condition("Finished")),
        obj("TaskRun", "tekton.dev/v1", conditions=condition("Succeeded", "False")),
        obj("Workflow", "argoproj.io/v1alpha1", phase="Error"),
        obj("RayJob", "ray.io/v1", jobDeploymentStatus="Complete"),
        obj("Job", "batch.volcano.sh/v1alpha1", state={"phase": "Completed"}),
        obj("SparkApplication", "sparkoperator.k8s.io/v1beta2", applicationState={"state": "COMPLETED"}),
    ],
)
def test_done(done: dict[str, Any]) -> None:
    assert finished(done)


@pytest.mark.parametrize(
    "going_on",
    [
        obj("Pod", "v1", phase="Running"),
        obj("Pod", "v1"),
        {"apiVersion": "v1", "kind": "Pod"},
        obj("Job", "batch/v1", conditions=condition("Complete", "False")),
        obj("Job", "batch/v1", conditions=condition("Suspended")),
        obj("Deployment", "apps/v1", conditions=condition("Complete")),
        obj("TaskRun", "tekton.dev/v1", conditions=condition("Succeeded", "Unknown")),
        obj("Workflow", "argoproj.io/v1alpha1", phase=["Failed"]),
        obj("Job", "batch.volcano.sh/v1alpha1", state="Completed"),
        obj("Job", "batch/v1", conditions="Complete"),
        obj("Job", "batch/v1", conditions=[{"type": ["Complete"], "status": "True"}, "Failed"]),
        {"apiVersion": "batch/v1", "kind": "Job", "status": "Failed"},
        {"kind": "Pod", "status": {"phase": "Failed"}},
    ],
)
def test_going_on(going_on: dict[str, Any]) -> None:
    assert not finished(going_on)
