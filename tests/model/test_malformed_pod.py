"""Pods with a wrong type somewhere: the API server could not read them, so they are refused at that place."""

from typing import Any

import pytest

from app.model.pod import MalformedPod, Pod
from tests.model.reading import NODE, everything


def in_spec(**spec: Any) -> dict[str, Any]:
    return {"spec": spec}


def in_container(**fields: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "ok"}, fields]}}


def in_term(*expressions: Any) -> dict[str, Any]:
    terms = [{}, {"matchExpressions": list(expressions)}]
    return {"spec": {"affinity": {"nodeAffinity": {NODE: {"nodeSelectorTerms": terms}}}}}


MALFORMED: list[tuple[dict[str, Any], str, str]] = [
    ({}, "/spec", "a map, found null"),
    ({"spec": None}, "/spec", "a map, found null"),
    ({"spec": []}, "/spec", "a map, found a list"),
    ({"spec": "x"}, "/spec", "a map, found text"),
    ({"metadata": "x", "spec": {}}, "/metadata", "a map, found text"),
    ({"metadata": {"labels": []}, "spec": {}}, "/metadata/labels", "a map, found a list"),
    ({"metadata": {"labels": {"a": 1}}, "spec": {}}, "/metadata/labels/a", "text, found a number"),
    ({"metadata": {"labels": {"a/b": True}}, "spec": {}}, "/metadata/labels/a~1b", "text, found true or false"),
    ({"metadata": {"annotations": {"a": 1.5}}, "spec": {}}, "/metadata/annotations/a", "text, found a number"),
    ({"metadata": {"annotations": {"a": {}}}, "spec": {}}, "/metadata/annotations/a", "text, found a map"),
    ({"metadata": {"ownerReferences": {}}, "spec": {}}, "/metadata/ownerReferences", "a list, found a map"),
    ({"metadata": {"ownerReferences": [1]}, "spec": {}}, "/metadata/ownerReferences/0", "a map, found a number"),
    (in_spec(runtimeClassName=1), "/spec/runtimeClassName", "text, found a number"),
    (in_spec(nodeName=["a"]), "/spec/nodeName", "text, found a list"),
    (in_spec(schedulerName={}), "/spec/schedulerName", "text, found a map"),
    (in_spec(serviceAccountName=1), "/spec/serviceAccountName", "text, found a number"),
    (in_spec(serviceAccount=1), "/spec/serviceAccount", "text, found a number"),
    (in_spec(containers={}), "/spec/containers", "a list, found a map"),
    (in_spec(containers=["a"]), "/spec/containers/0", "a map, found text"),
    (in_spec(containers=[None]), "/spec/containers/0", "a map, found null"),
    (in_spec(initContainers="a"), "/spec/initContainers", "a list, found text"),
    (in_spec(ephemeralContainers=[1]), "/spec/ephemeralContainers/0", "a map, found a number"),
    (in_spec(tolerations={}), "/spec/tolerations", "a list, found a map"),
    (in_spec(tolerations=["Exists"]), "/spec/tolerations/0", "a map, found text"),
    (in_spec(tolerations=[{}, {"key": 1}]), "/spec/tolerations/1/key", "text, found a number"),
    (in_spec(tolerations=[{"operator": True}]), "/spec/tolerations/0/operator", "text, found true or false"),
    (in_spec(tolerations=[{"value": True}]), "/spec/tolerations/0/value", "text, found true or false"),
    (in_spec(tolerations=[{"effect": []}]), "/spec/tolerations/0/effect", "text, found a list"),
    (in_spec(nodeSelector=["a"]), "/spec/nodeSelector", "a map, found a list"),
    (in_spec(nodeSelector={"a.b/c~d": True}), "/spec/nodeSelector/a.b~1c~0d", "text, found true or false"),
    (in_spec(volumes={}), "/spec/volumes", "a list, found a map"),
    (in_spec(volumes=[1]), "/spec/volumes/0", "a map, found a number"),
    (in_spec(volumes=[{"name": 1}]), "/spec/volumes/0/name", "text, found a number"),
    (in_spec(volumes=[{"hostPath": "/dev"}]), "/spec/volumes/0/hostPath", "a map, found text"),
    (in_spec(volumes=[{"hostPath": {"path": ["/dev"]}}]), "/spec/volumes/0/hostPath/path", "text, found a list"),
    (in_spec(resourceClaims={}), "/spec/resourceClaims", "a list, found a map"),
    (in_spec(resourceClaims=[{"name": {}}]), "/spec/resourceClaims/0/name", "text, found a map"),
    (
        in_spec(resourceClaims=[{"resourceClaimTemplateName": 1}]),
        "/spec/resourceClaims/0/resourceClaimTemplateName",
        "text, found a number",
    ),
    (in_spec(schedulingGates="x"), "/spec/schedulingGates", "a list, found text"),
    (in_spec(affinity=[]), "/spec/affinity", "a map, found a list"),
    (in_spec(affinity={"nodeAffinity": "x"}), "/spec/affinity/nodeAffinity", "a map, found text"),
    (in_spec(affinity={"nodeAffinity": {NODE: []}}), f"/spec/affinity/nodeAffinity/{NODE}", "a map, found a list"),
    (
        in_spec(affinity={"nodeAffinity": {NODE: {"nodeSelectorTerms": {}}}}),
        f"/spec/affinity/nodeAffinity/{NODE}/nodeSelectorTerms",
        "a list, found a map",
    ),
    (in_term("x"), f"/spec/affinity/nodeAffinity/{NODE}/nodeSelectorTerms/1/matchExpressions/0", "a map, found text"),
    (
        in_term({}, {"key": []}),
        f"/spec/affinity/nodeAffinity/{NODE}/nodeSelectorTerms/1/matchExpressions/1/key",
        "text, found a list",
    ),
    (
        in_term({"values": "a"}),
        f"/spec/affinity/nodeAffinity/{NODE}/nodeSelectorTerms/1/matchExpressions/0/values",
        "a list, found text",
    ),
    (
        in_term({"values": ["a", 1]}),
        f"/spec/affinity/nodeAffinity/{NODE}/nodeSelectorTerms/1/matchExpressions/0/values/1",
        "text, found a number",
    ),
    (in_container(name=1), "/spec/containers/1/name", "text, found a number"),
    (in_container(image=1), "/spec/containers/1/image", "text, found a number"),
    (in_container(resources=[]), "/spec/containers/1/resources", "a map, found a list"),
    (in_container(resources={"limits": []}), "/spec/containers/1/resources/limits", "a map, found a list"),
    (in_container(resources={"requests": "1"}), "/spec/containers/1/resources/requests", "a map, found text"),
    (in_container(resources={"claims": {}}), "/spec/containers/1/resources/claims", "a list, found a map"),
    (in_container(resources={"claims": ["a"]}), "/spec/containers/1/resources/claims/0", "a map, found text"),
    (
        in_container(resources={"claims": [{"name": 1}]}),
        "/spec/containers/1/resources/claims/0/name",
        "text, found a number",
    ),
    (in_container(securityContext=True), "/spec/containers/1/securityContext", "a map, found true or false"),
    (
        in_container(securityContext={"privileged": "true"}),
        "/spec/containers/1/securityContext/privileged",
        "true or false, found text",
    ),
    (
        in_container(securityContext={"privileged": 1}),
        "/spec/containers/1/securityContext/privileged",
        "true or false, found a number",
    ),
    (in_container(env={"A": "b"}), "/spec/containers/1/env", "a list, found a map"),
    (in_container(env=["A=b"]), "/spec/containers/1/env/0", "a map, found text"),
    (in_container(env=[{"name": ["A"]}]), "/spec/containers/1/env/0/name", "text, found a list"),
    (in_container(env=[{"name": "A", "value": 1}]), "/spec/containers/1/env/0/value", "text, found a number"),
    (in_container(envFrom="a"), "/spec/containers/1/envFrom", "a list, found text"),
    (in_container(volumeMounts={}), "/spec/containers/1/volumeMounts", "a list, found a map"),
    (
        in_container(volumeMounts=[{"mountPath": {}}]),
        "/spec/containers/1/volumeMounts/0/mountPath",
        "text, found a map",
    ),
]


@pytest.mark.parametrize(("obj", "pointer", "said"), MALFORMED, ids=[pointer for _, pointer, _ in MALFORMED])
def test_a_wrong_type_is_refused_at_its_place(obj: dict[str, Any], pointer: str, said: str) -> None:
    with pytest.raises(MalformedPod) as raised:
        everything(Pod.of(obj))
    error = raised.value
    assert error.pointer == pointer
    assert f"{error.wanted}, found {error.found}" == said
    path = pointer[1:].replace("/", ".").replace("~1", "/").replace("~0", "~")
    assert str(error) == f"{path} must be {said}"
