"""Workloads of a test's namespace, as people apply them."""

from typing import Any

from tests.controlplane import ControlPlane
from tests.support.cluster import cpu_pod, gpu_pod

PATHS = {
    "Pod": "/api/v1/namespaces/{}/pods",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "ReplicaSet": "/apis/apps/v1/namespaces/{}/replicasets",
    "StatefulSet": "/apis/apps/v1/namespaces/{}/statefulsets",
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "CronJob": "/apis/batch/v1/namespaces/{}/cronjobs",
    "RayCluster": "/apis/ray.io/v1/namespaces/{}/rayclusters",
    "TrainJob": "/apis/trainer.kubeflow.org/v1alpha1/namespaces/{}/trainjobs",
    "JobSet": "/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets",
}
GOOD: dict[str, Any] = gpu_pod()["spec"]
"""A spec that is repaired and injected."""


def privileged(spec: dict[str, Any]) -> dict[str, Any]:
    """The spec with a privileged container: of a GPU pod it is refused."""
    containers = [{**each, "securityContext": {"privileged": True}} for each in spec["containers"]]
    return {**spec, "containers": containers}


BAD = privileged(GOOD)
CPU: dict[str, Any] = cpu_pod()["spec"]


def deployment(name: str, spec: dict[str, Any], replicas: int = 1) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": name}}, "spec": spec}
    selector = {"matchLabels": {"app": name}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": selector, "template": template},
    }


def job(name: str, spec: dict[str, Any], **fields: Any) -> dict[str, Any]:
    template = {"spec": {"restartPolicy": "Never", **spec}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"template": template, **fields},
    }


def cron_job(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    template = {"spec": job(name, spec)["spec"]}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": name},
        "spec": {"schedule": "0 0 1 1 *", "suspend": True, "jobTemplate": template},
    }


def pod(name: str, spec: dict[str, Any], owner: dict[str, Any] | None = None) -> dict[str, Any]:
    """A pod, which the stored object ``owner`` controls."""
    metadata: dict[str, Any] = {"name": name}
    if owner is not None:
        metadata["ownerReferences"] = [controller(owner)]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def controller(owner: dict[str, Any]) -> dict[str, Any]:
    """The reference to an owner that is the controller."""
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "controller": True}
    return {**reference, "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}


def ray_cluster(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    head = {"rayStartParams": {}, "template": {"spec": CPU}}
    workers = {"groupName": "gpus", "rayStartParams": {}, "template": {"spec": spec}}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": name},
        "spec": {"headGroupSpec": head, "workerGroupSpecs": [workers]},
    }


def create(plane: ControlPlane, namespace: str, *objects: dict[str, Any]) -> list[dict[str, Any]]:
    """Make the objects; as they were stored."""
    return [plane.client().post(PATHS[obj["kind"]].format(namespace), obj).expect(201) | _type(obj) for obj in objects]


def _type(obj: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": obj["apiVersion"], "kind": obj["kind"]}


def custom_resource(plane: ControlPlane, group: str, version: str, kind: str, plural: str) -> None:
    """A kind of which every object is accepted, there once for all tests."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    served = {"name": version, "served": True, "storage": True, "schema": schema, "subresources": {"status": {}}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "scope": "Namespaced",
            "versions": [served],
        },
    }
    api = plane.client()
    api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition).expect(201, 409)
    path = f"/apis/{group}/{version}/{plural}"
    plane.wait_for(lambda: api.get(path).status == 200, message=f"{plural}.{group} served")
    plane.wait_for(
        lambda: any(each["name"] == group for each in api.get("/apis").expect(200)["groups"]),
        message=f"{group} in the discovery",
    )
