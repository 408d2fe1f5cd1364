"""The views over raw pods."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from app.model.pod import MalformedPod, Pod
from tests.model.reading import NODE, everything


def pod_of(metadata: Any = None, **spec: Any) -> Pod:
    return Pod.of({"metadata": metadata, "spec": spec})


def test_containers_come_in_the_order_in_which_they_start() -> None:
    pod = pod_of(
        containers=[{"name": "app"}, {"name": "web"}],
        initContainers=[{"name": "fetch"}, {"name": "proxy", "restartPolicy": "Always"}],
        ephemeralContainers=[{"name": "debug"}],
    )
    assert [(each.kind, each.name, each.pointer, each.sidecar) for each in pod.containers] == [
        ("initContainer", "fetch", "/spec/initContainers/0", False),
        ("initContainer", "proxy", "/spec/initContainers/1", True),
        ("container", "app", "/spec/containers/0", False),
        ("container", "web", "/spec/containers/1", False),
        ("ephemeralContainer", "debug", "/spec/ephemeralContainers/0", False),
    ]
    assert [each.label for each in pod.containers] == [
        'init container "fetch"',
        'init container "proxy"',
        'container "app"',
        'container "web"',
        'ephemeral container "debug"',
    ]


def test_only_an_init_container_is_a_sidecar() -> None:
    always = [{"name": "a", "restartPolicy": "Always"}]
    assert not pod_of(containers=always).containers[0].sidecar  # Kubernetes 1.35 lets containers have one too
    assert not pod_of(initContainers=[{"name": "a", "restartPolicy": "OnFailure"}]).containers[0].sidecar


def test_a_template_has_its_own_pointers() -> None:
    pod = Pod(
        {"labels": {"a": "b"}},
        {"containers": [{"name": "a"}], "tolerations": []},
        metadata_pointer="/spec/template/metadata",
        spec_pointer="/spec/template/spec",
    )
    assert pod.containers[0].pointer == "/spec/template/spec/containers/0"
    with pytest.raises(MalformedPod, match=r"^spec\.template\.metadata\.labels\.a must be text, found a number$"):
        Pod({"labels": {"a": 1}}, {}, metadata_pointer="/spec/template/metadata", spec_pointer="/spec/template/spec")


def test_what_a_container_shows() -> None:
    raw = {
        "name": "a",
        "image": "registry.example.com/a:1",
        "resources": {"limits": {"cpu": "1"}, "requests": {"memory": 5}, "claims": [{"name": "gpu"}]},
        "securityContext": {"privileged": True},
        "env": [{"name": "A", "value": "1"}],
        "envFrom": [{"configMapRef": {"name": "a"}}],
        "volumeMounts": [{"name": "v", "mountPath": "/v"}],
    }
    container = pod_of(containers=[raw]).containers[0]
    assert container.raw is raw
    assert (container.limits, container.requests, container.claims) == ({"cpu": "1"}, {"memory": 5}, [{"name": "gpu"}])
    assert container.privileged
    assert container.image == "registry.example.com/a:1"
    assert (container.env(), container.env_from(), container.volume_mounts()) == (
        raw["env"],
        raw["envFrom"],
        raw["volumeMounts"],
    )


def test_nothing_is_there() -> None:
    pod = Pod.of({"spec": {}})
    assert (pod.labels, pod.annotations, pod.containers, pod.runtime_class, pod.node_name, pod.scheduler) == (
        {}, {}, [], "", "", "",
    )  # fmt: skip
    assert pod.tolerations() == pod.resource_claims() == pod.scheduling_gates() == []
    assert pod.host_paths() == []
    assert pod.node_selector() == {}
    assert list(pod.required_node_terms()) == []
    assert not pod.mirror
    assert not pod.daemonset


NULLS: dict[str, Any] = {
    "metadata": {"labels": None, "annotations": None, "ownerReferences": None},
    "spec": {
        "containers": [
            {
                "name": None,
                "image": None,
                "env": [{"name": None, "value": None}],
                "envFrom": None,
                "volumeMounts": [{"mountPath": None}],
                "resources": {"limits": None, "requests": None, "claims": [{"name": None}]},
                "securityContext": {"privileged": None},
            },
            {"env": None, "volumeMounts": None, "resources": None, "securityContext": None},
            {"resources": {"claims": None}},
        ],
        "initContainers": None,
        "ephemeralContainers": None,
        "runtimeClassName": None,
        "nodeName": None,
        "schedulerName": None,
        "serviceAccountName": None,
        "serviceAccount": None,
        "tolerations": [{"key": None, "operator": None, "value": None, "effect": None}],
        "nodeSelector": None,
        "volumes": [{"name": None, "hostPath": None}, {"hostPath": {"path": None}}],
        "resourceClaims": [{"name": None, "resourceClaimTemplateName": None}],
        "schedulingGates": None,
        "affinity": {
            "nodeAffinity": {NODE: {"nodeSelectorTerms": [{"matchExpressions": [{"key": None, "values": None}]}]}}
        },
    },
}


def test_nulls_are_absent() -> None:
    before = copy.deepcopy(NULLS)
    pod = Pod.of(NULLS)
    everything(pod)
    assert before == NULLS
    assert (pod.labels, pod.runtime_class, pod.service_account) == ({}, "", "default")
    assert [each.privileged for each in pod.containers] == [False] * 3
    for nothing in (None, {"nodeAffinity": None}, {"nodeAffinity": {NODE: None}}):
        assert list(pod_of(affinity=nothing).required_node_terms()) == []
    assert list(pod_of(affinity={"nodeAffinity": {NODE: {"nodeSelectorTerms": None}}}).required_node_terms()) == []


def test_a_null_among_texts_is_an_empty_one() -> None:
    # {"labels": {"a": null}} is what a chart with an empty value sends, and the API server takes it.
    metadata = {"labels": {"a": None, "b": "c"}, "annotations": {"d": None}}
    pod = pod_of(metadata, nodeSelector={"e": None})
    assert pod.labels == {"a": "", "b": "c"}
    assert pod.annotations == {"d": ""}
    assert pod.node_selector() == {"e": ""}
    assert metadata["labels"] == {"a": None, "b": "c"}


def test_unknown_fields_are_nobodys_business() -> None:
    everything(pod_of({"future": 1}, future=[None], containers=[{"future": 1, "resources": {"future": 2}}]))


@pytest.mark.parametrize(
    ("spec", "account"),
    [
        ({}, "default"),
        ({"serviceAccountName": ""}, "default"),
        ({"serviceAccountName": "a"}, "a"),
        ({"serviceAccount": "b"}, "b"),  # the deprecated alias
        ({"serviceAccountName": "a", "serviceAccount": "b"}, "a"),
        ({"serviceAccountName": "", "serviceAccount": "b"}, "b"),
    ],
)
def test_service_account(spec: dict[str, Any], account: str) -> None:
    assert pod_of(**spec).service_account == account


@pytest.mark.parametrize(
    ("owners", "daemonset"),
    [
        ([{"kind": "DaemonSet", "controller": True}], True),
        ([{"kind": "ReplicaSet", "controller": True}, {"kind": "DaemonSet", "controller": True}], True),
        ([{"kind": "DaemonSet", "controller": False}], False),
        ([{"kind": "DaemonSet"}], False),
        ([{"kind": "ReplicaSet", "controller": True}], False),
        ([], False),
    ],
)
def test_daemonset(owners: list[dict[str, Any]], daemonset: bool) -> None:
    assert pod_of({"ownerReferences": owners}).daemonset is daemonset


def test_whoever_makes_the_view_can_say_that_it_is_of_a_daemonset() -> None:
    assert Pod(None, {}, daemonset=True).daemonset
    owners = [{"kind": "DaemonSet", "controller": True}]
    assert not Pod({"ownerReferences": owners}, {}, daemonset=False).daemonset


@pytest.mark.parametrize("value", ["abc", "", "true"])
def test_a_mirror_pod_is_one_by_the_annotation_alone(value: str) -> None:
    assert pod_of({"annotations": {"kubernetes.io/config.mirror": value}}).mirror
    assert not pod_of({"annotations": {"kubernetes.io/config.source": value}}).mirror


READERS: list[Callable[[Pod], Any]] = [
    Pod.tolerations,
    Pod.node_selector,
    Pod.host_paths,
    Pod.resource_claims,
    Pod.scheduling_gates,
]


@pytest.mark.parametrize("read", READERS)
def test_what_a_view_gives_is_not_shared_with_the_next_pod(read: Callable[[Pod], Any]) -> None:
    assert read(pod_of()) == read(pod_of())
    found = read(pod_of())
    if isinstance(found, list):
        found.append({})
    assert not read(pod_of())
