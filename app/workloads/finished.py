"""Whether an object that runs to an end has come to it: no pod will be made of it any more."""

from typing import Any, Final

from app.workloads.kinds import group_kind

_CONDITIONS: Final = ("Complete", "Completed", "Failed", "Finished", "Succeeded")
"""Conditions of Jobs (batch/v1 JobComplete), of kubeflow.org's jobs, JobSets, TrainJobs, and Workloads of Kueue."""

_BY_CONDITION: Final = frozenset(
    (
        ("batch", "Job"), ("jobset.x-k8s.io", "JobSet"), ("trainer.kubeflow.org", "TrainJob"),
        ("kueue.x-k8s.io", "Workload"), ("kubeflow.org", "PyTorchJob"), ("kubeflow.org", "TFJob"),
        ("kubeflow.org", "MPIJob"), ("kubeflow.org", "XGBoostJob"), ("kubeflow.org", "PaddleJob"),
        ("kubeflow.org", "JAXJob"),
    )
)  # fmt: skip

_ENDED: Final = ("Succeeded",)
"""The condition of Tekton's runs, which is False when they have failed and Unknown while they run."""

_BY_ENDED: Final = frozenset((("tekton.dev", "TaskRun"), ("tekton.dev", "PipelineRun")))

_PHASES: Final[dict[tuple[str, str], tuple[tuple[str, ...], frozenset[str]]]] = {
    ("", "Pod"): (("phase",), frozenset(("Succeeded", "Failed"))),
    ("argoproj.io", "Workflow"): (("phase",), frozenset(("Succeeded", "Failed", "Error"))),
    ("argoproj.io", "AnalysisRun"): (("phase",), frozenset(("Successful", "Failed", "Error", "Inconclusive"))),
    ("ray.io", "RayJob"): (("jobDeploymentStatus",), frozenset(("Complete", "Failed"))),
    ("batch.volcano.sh", "Job"): (("state", "phase"), frozenset(("Completed", "Failed", "Terminated"))),
    ("sparkoperator.k8s.io", "SparkApplication"): (("applicationState", "state"), frozenset(("COMPLETED", "FAILED"))),
}
"""Where in the status the phase is, and which phases are the last ones."""


def finished(obj: dict[str, Any]) -> bool:
    """True if the object has come to its end; false for a kind that has none, and where the status says nothing."""
    kind, status = group_kind(obj), obj.get("status")
    if kind is None or type(status) is not dict:
        return False
    if kind in _PHASES:
        path, last = _PHASES[kind]
        value: Any = status
        for step in path:
            value = value.get(step) if type(value) is dict else None
        return type(value) is str and value in last
    if kind in _BY_CONDITION:
        return any(each.get("status") == "True" for each in _conditions(status, _CONDITIONS))
    if kind in _BY_ENDED:
        return any(each.get("status") in ("True", "False") for each in _conditions(status, _ENDED))
    return False


def _conditions(status: dict[str, Any], types: tuple[str, ...]) -> list[dict[str, Any]]:
    listed = status.get("conditions")
    if type(listed) is not list:
        return []
    return [each for each in listed if type(each) is dict and each.get("type") in types]
