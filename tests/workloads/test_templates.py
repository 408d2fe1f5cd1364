"""Where the pods are in an object."""

from typing import Any

import pytest

from app.model.pod import MalformedPod
from app.workloads.kinds import CORE_KINDS, Kind
from app.workloads.templates import templates

SPEC = {"containers": [{"name": "a", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}
TEMPLATE = {"metadata": {"labels": {"app": "x"}}, "spec": SPEC}


def obj(api_version: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x", "labels": {"app": "x"}}, **fields}


CASES = [
    (obj("v1", "Pod", spec=SPEC), "", False, False),
    (obj("v1", "PodTemplate", template=TEMPLATE), "/template", True, False),
    (obj("v1", "ReplicationController", spec={"template": TEMPLATE}), "/spec/template", True, False),
    (obj("apps/v1", "Deployment", spec={"template": TEMPLATE}), "/spec/template", True, False),
    (obj("apps/v1", "StatefulSet", spec={"template": TEMPLATE}), "/spec/template", True, False),
    (obj("apps/v1", "DaemonSet", spec={"template": TEMPLATE}), "/spec/template", True, True),
    (obj("apps/v1", "ReplicaSet", spec={"template": TEMPLATE}), "/spec/template", True, False),
    (obj("batch/v1", "Job", spec={"template": TEMPLATE}), "/spec/template", True, False),
    (
        obj("batch/v1", "CronJob", spec={"jobTemplate": {"spec": {"template": TEMPLATE}}}),
        "/spec/jobTemplate/spec/template",
        True,
        False,
    ),
]


@pytest.mark.parametrize(("workload", "base", "validated", "daemonset"), CASES, ids=[case[0]["kind"] for case in CASES])
def test_core_kinds(workload: dict[str, Any], base: str, validated: bool, daemonset: bool) -> None:
    (template,) = templates(workload, CORE_KINDS)
    pod = template.pod()
    assert pod.spec_pointer == template.spec_pointer == f"{base}/spec"
    assert pod.metadata_pointer == f"{base}/metadata"
    assert pod.labels == {"app": "x"}
    assert template.kind.validated is validated
    assert pod.daemonset is daemonset
    assert [container.pointer for container in pod.containers] == [f"{base}/spec/containers/0"]


def test_a_pod_of_a_daemonset_is_known_by_its_owner() -> None:
    pod = obj("v1", "Pod", spec=SPEC)
    pod["metadata"]["ownerReferences"] = [{"kind": "DaemonSet", "name": "x", "controller": True}]
    (template,) = templates(pod, CORE_KINDS)
    assert template.pod().daemonset


@pytest.mark.parametrize(
    "other",
    [
        obj("batch.volcano.sh/v1alpha1", "Job", spec={"template": TEMPLATE}),
        obj("metrics.k8s.io/v1beta1", "Pod", spec=SPEC),
        obj("v2", "Pod", spec=SPEC),
        obj("v1", "ConfigMap", data={}),
        {"spec": SPEC},
    ],
)
def test_other_kinds_hold_none(other: dict[str, Any]) -> None:
    assert not list(templates(other, CORE_KINDS))


@pytest.mark.parametrize("spec", [None, {}, {"template": None}, {"template": {}}, {"template": {"spec": None}}])
def test_where_no_spec_is_there_is_no_pod(spec: Any) -> None:
    assert not list(templates(obj("apps/v1", "Deployment", spec=spec), CORE_KINDS))


@pytest.mark.parametrize(
    ("spec", "pointer"),
    [
        ("x", "/spec"),
        ([], "/spec"),
        ({"template": 3}, "/spec/template"),
        ({"template": {"spec": []}}, "/spec/template/spec"),
    ],
)
def test_what_cannot_hold_a_pod_is_named(spec: Any, pointer: str) -> None:
    with pytest.raises(MalformedPod) as error:
        [template.pod() for template in templates(obj("apps/v1", "Deployment", spec=spec), CORE_KINDS)]
    assert error.value.pointer == pointer


def test_a_step_may_stand_for_every_key_or_index() -> None:
    kinds = {
        ("ray.io", "RayCluster"): Kind(("/spec/head/template/spec", "/spec/workers/*/template/spec")),
        ("kubeflow.org", "PyTorchJob"): Kind(("/spec/replicas/*/template/spec",)),
        ("example.com", "Predictor"): Kind(("/spec/predictor",)),
    }
    ray = obj("ray.io/v1", "RayCluster", spec={"head": {"template": TEMPLATE}, "workers": [{"template": TEMPLATE}] * 2})
    assert [each.spec_pointer for each in templates(ray, kinds)] == [
        "/spec/head/template/spec",
        "/spec/workers/0/template/spec",
        "/spec/workers/1/template/spec",
    ]
    torch = obj("kubeflow.org/v1", "PyTorchJob", spec={"replicas": {"Master": {"template": TEMPLATE}, "a/b": {}}})
    assert [each.spec_pointer for each in templates(torch, kinds)] == ["/spec/replicas/Master/template/spec"]
    predictor = obj("example.com/v1", "Predictor", spec={"predictor": SPEC, "metadata": {"labels": {"not": "its"}}})
    (bare,) = templates(predictor, kinds)
    assert bare.pod().labels == {}
