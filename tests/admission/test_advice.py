"""What is said of objects that make pods, and of namespaces whose label changes."""

from datetime import date
from typing import Any

import orjson
import pytest

from app.admission.advice import advise
from app.admission.namespace import review_namespace
from app.admission.review import Request, read_request
from app.model.context import ClusterFacts, Context, NamespaceFact, RefusedWorkload
from app.policy.compiled import MODE_LABEL, Mode, Policy
from app.policy.load import load

CONTAINER = {"name": "main", "image": "a", "resources": {"limits": {"nvidia.com/gpu": 1}}}
BAD = {"containers": [CONTAINER | {"securityContext": {"privileged": True}}]}
GOOD = {"containers": [CONTAINER]}


def policy(**spec: Any) -> Policy:
    document = {
        "apiVersion": "gpugate.dev/v1alpha1",
        "kind": "GpuPolicy",
        "metadata": {"name": "p"},
        "spec": {"gpus": {"presets": ["nvidia"]}, "rules": [{"rule": "no-privileged"}], **spec},
    }
    return load([("p.json", orjson.dumps(document))])


def request(obj: dict[str, Any], old: dict[str, Any] | None = None, namespace: str = "team-a") -> Request:
    group, _, version = obj["apiVersion"].rpartition("/")
    body = {
        "uid": "u",
        "kind": {"group": group, "version": version, "kind": obj["kind"]},
        "operation": "UPDATE" if old else "CREATE",
        "namespace": namespace,
        "object": obj,
        "oldObject": old,
    }
    return read_request({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": body})


def asked(
    made: Policy, mode: Mode, obj: dict[str, Any], old: dict[str, Any] | None = None, namespace: str = "team-a"
) -> dict[str, Any]:
    """The response to the creation of an object, or to its update."""
    answer = advise(made, mode, request(obj, old, namespace), Context(namespace, date(2026, 12, 2)))
    response: dict[str, Any] = orjson.loads(answer.body)["response"]
    return response


def deployment(spec: Any, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {"template": {"spec": spec}}}


def pytorch_job(**specs: Any) -> dict[str, Any]:
    replicas = {name: {"template": {"spec": spec}} for name, spec in specs.items()}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {"pytorchReplicaSpecs": replicas}}


def owner(controller: bool) -> dict[str, Any]:
    return {"ownerReferences": [{"kind": "X", "name": "x", "controller": controller}]}


def test_what_a_controller_made_is_left_alone() -> None:
    assert "warnings" not in asked(policy(), "enforce", deployment(BAD, **owner(True)))
    assert "warnings" in asked(policy(), "enforce", deployment(BAD, **owner(False)))


def test_an_exempt_template_and_a_pinned_namespace() -> None:
    made = policy(
        exempt={"serviceAccounts": ["team-a/exporter"]}, modes={"namespaces": {"b": "audit", "c": "disabled"}}
    )
    assert "warnings" not in asked(made, "enforce", deployment(BAD | {"serviceAccountName": "exporter"}))
    assert asked(made, "enforce", deployment(BAD), namespace="b")["auditAnnotations"]["mode"] == "audit"
    assert asked(made, "enforce", deployment(BAD), namespace="c") == {"uid": "u", "allowed": True}


def test_an_update() -> None:
    made = policy()
    assert "warnings" not in asked(made, "enforce", deployment(BAD, labels={"a": "b"}), deployment(BAD))
    assert "warnings" in asked(made, "enforce", deployment(BAD), deployment(GOOD))
    assert "warnings" in asked(made, "enforce", deployment(BAD), deployment("no pod spec"))


def test_several_templates_are_told_apart() -> None:
    said = asked(policy(), "enforce", pytorch_job(Master=GOOD, Worker=BAD, Other=BAD))["warnings"]
    assert [text.partition(": ")[0] for text in said] == [
        "pods of this PyTorchJob (/spec/pytorchReplicaSpecs/Worker/template/spec) would be refused",
        "pods of this PyTorchJob (/spec/pytorchReplicaSpecs/Other/template/spec) would be refused",
    ]


def test_refused_kinds() -> None:
    made = policy(workloads={"refuse": ["pytorchjobs.kubeflow.org"]})
    refused = asked(made, "enforce", pytorch_job(Worker=BAD))
    assert refused["allowed"] is False
    assert (refused["status"]["code"], refused["status"]["reason"]) == (403, "Forbidden")
    assert refused["status"]["message"].startswith("pods of this PyTorchJob would be refused: p/no-privileged: ")
    assert asked(made, "enforce", pytorch_job(Worker=GOOD))["allowed"] is True
    assert asked(made, "enforce", pytorch_job(Worker=BAD), pytorch_job(Worker=GOOD))["allowed"] is True
    assert asked(made, "assist", pytorch_job(Worker=BAD))["allowed"] is True
    assert asked(policy(), "enforce", pytorch_job(Worker=BAD))["allowed"] is True


@pytest.mark.parametrize(("refused", "allowed"), [([], True), (["pytorchjobs.kubeflow.org"], False)])
def test_what_cannot_be_read(refused: list[str], allowed: bool) -> None:
    answer = asked(policy(workloads={"refuse": refused}), "enforce", pytorch_job(Worker={"containers": 7}))
    assert answer["allowed"] is allowed
    said = answer["auditAnnotations"]["error"] if allowed else answer["status"]["message"]
    assert "spec.pytorchReplicaSpecs.Worker.template.spec.containers must be a list" in said


def test_another_kind_is_an_error_that_refuses_nothing() -> None:
    for obj in ({"apiVersion": "v1", "kind": "Pod"}, {"apiVersion": "v1", "kind": "ConfigMap"}):
        answer = asked(policy(), "enforce", obj)
        assert answer["allowed"] is True
        assert obj["kind"] in answer["auditAnnotations"]["error"]


def namespace(label: str | None, name: str = "team-a") -> dict[str, Any]:
    labels = {} if label is None else {MODE_LABEL: label}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def said(
    made: Policy, new: str | None, old: str | None, facts: NamespaceFact | None = None, name: str = "a"
) -> list[str]:
    known = ClusterFacts(namespaces={} if facts is None else {name: facts})
    answer = review_namespace(made, request(namespace(new, name), namespace(old, name), name), known)
    response = orjson.loads(answer.body)["response"]
    assert response["allowed"] is True
    found: list[str] = response.get("warnings", [])
    return found


def test_running_workloads_are_named_up_to_a_number() -> None:
    examples = tuple(RefusedWorkload("Job", f"j{number}", 1, ("p/no-privileged",)) for number in range(30))
    found = said(policy(), "enforce", "warn", NamespaceFact(40, 35, examples))
    assert found[0] == "enforce refuses new pods of 35 workloads that run in a:"
    assert found[1] == "Job j0 (1 pod): p/no-privileged"
    assert found[-1] == "and 25 more; `gpugate modes plan` tells all"
    assert len(found) == 12
    assert all(len(text) <= 120 for text in found)


def test_only_a_step_into_enforce_is_worth_a_word() -> None:
    fact = NamespaceFact(1, 1, (RefusedWorkload("Job", "j", 1, ("p/r",)),))
    assert said(policy(), "enforce", None, fact)
    assert said(policy(modes={"default": "enforce"}), None, "audit", fact)  # the default is stricter
    assert said(policy(), "warn", "enforce", fact) == []
    assert said(policy(), "enforce", "enforce", fact) == []
    assert said(policy(modes={"default": "enforce"}), "enforce", None, fact) == []
    assert said(policy(), "enforce", "audit", NamespaceFact(3, 0)) == []
    assert said(policy(), "enforce", "audit") == []  # nothing runs there


def test_a_label_without_effect() -> None:
    made = policy(modes={"namespaces": {"a": "warn"}, "labels": ["audit", "warn"]}, exempt={"namespaces": ["b"]})
    assert said(made, "enforce", None) == [f"{MODE_LABEL} has no effect here: the policy pins the namespace a to warn"]
    assert said(made, "warn", None) == []
    assert said(made, None, "enforce") == []
    assert said(made, "warn", None, name="b") == [
        f"{MODE_LABEL} has no effect here: the policy exempts the namespace b"
    ]
    assert said(made, "enforce", None, name="c") == [
        f'{MODE_LABEL}="enforce" means nothing: the policy lets labels choose audit, warn',
        "the namespace c is in the policy's default mode, audit",
    ]


def test_a_new_namespace() -> None:
    def created(label: str | None) -> list[str]:
        answer = review_namespace(policy(), request(namespace(label), None, "team-a"), ClusterFacts())
        found: list[str] = orjson.loads(answer.body)["response"].get("warnings", [])
        return found

    assert created("enforce") == created(None) == []  # nothing runs there yet
    assert len(created("On")) == 2
