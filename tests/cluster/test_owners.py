"""Which object stands for another, by uids alone."""

from typing import Any

from app.cluster.owners import _PARTS, Owners
from app.workloads.custom import CUSTOM_KINDS
from app.workloads.kinds import every_part

KINDS = [("apps", "Deployment"), ("apps", "ReplicaSet"), ("ray.io", "RayCluster"), ("ray.io", "RayJob")]


def obj(uid: str, *owners: tuple[str, str, str], controller: bool = True) -> dict[str, Any]:
    references = [
        {"apiVersion": version, "kind": kind, "uid": above, "controller": controller} for version, kind, above in owners
    ]
    return {"metadata": {"uid": uid, "ownerReferences": references}}


def test_a_chain_of_owners_ends_at_the_top() -> None:
    owners = Owners(KINDS)
    assert owners.stands_alone(obj("job"))
    assert not owners.stands_alone(obj("cluster", ("ray.io/v1", "RayJob", "job")))
    assert owners.of_pod(obj("pod", ("ray.io/v1", "RayCluster", "cluster"))) == "job"


def test_owners_that_stand_for_nobody() -> None:
    owners = Owners(KINDS)
    assert owners.stands_alone(obj("rs", ("example.com/v1", "Deployment", "of-another-group")))
    assert owners.stands_alone(obj("other", ("apps/v1", "Deployment", "not-the-controller"), controller=False))
    assert owners.of_pod(obj("pod", ("example.com/v1", "Foo", "foo"))) is None
    assert owners.of_pod(obj("mirror", ("v1", "Node", "node"))) is None
    assert owners.of_pod({"metadata": {"uid": "bare"}}) is None
    assert owners.of_pod(obj("pod", ("apps/v1", "ReplicaSet", "made-since"))) is None
    assert owners.of_pod(obj("pod", ("apps/v1", "ReplicaSet", "rs"))) == "rs"


def test_a_kind_that_could_not_be_read_stands_for_nobody() -> None:
    owners = Owners(KINDS)
    owners.unread(("apps", "Deployment"))
    assert owners.stands_alone(obj("rs", ("apps/v1", "Deployment", "d")))


def test_kinds_that_are_part_of_the_truth() -> None:
    partial = {name for name, kind in CUSTOM_KINDS.items() if any(part.rest for part in every_part(kind))}
    # A configuration owns nothing. Of the other two, reading an object tells what else its pods are made of.
    assert partial - {("serving.kserve.io", "LLMInferenceServiceConfig")} <= _PARTS
    owners = Owners([*_PARTS])
    assert owners.stands_alone(obj("jobset", ("trainer.kubeflow.org/v1alpha1", "TrainJob", "train")))
