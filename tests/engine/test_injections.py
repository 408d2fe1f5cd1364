"""What is injected: into which pods, beside what, and against what."""

from typing import Any

import pytest

from tests.engine.judging import changed, decision, gpu_pod, named, said
from tests.engine.policies import policy

NODES = policy("  gpus: {presets: [nvidia, kai]}\n  inject: [{name: nodes, nodeSelector: {accelerator: nvidia-gpu}}]\n")
KEPT = policy(
    "  gpus: {presets: [nvidia]}\n"
    "  inject: [{name: nodes, onConflict: keep, nodeSelector: {accelerator: nvidia-gpu}}]\n"
)


def required(*terms: list[dict[str, Any]] | None) -> dict[str, Any]:
    """Required node affinity with these expressions, term by term."""
    listed = [{} if term is None else {"matchExpressions": term} for term in terms]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": listed}}}


def on(operator: str, *values: str, key: str = "accelerator") -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


def test_a_pod_without_gpus_gets_nothing() -> None:
    pod = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "web"}]}}
    assert decision(NODES, pod).changes == []


def test_a_missing_key_is_added() -> None:
    assert changed(NODES, gpu_pod())["spec"]["nodeSelector"] == {"accelerator": "nvidia-gpu"}
    after = changed(NODES, gpu_pod(nodeSelector={"zone": "z"}))
    assert after["spec"]["nodeSelector"] == {"zone": "z", "accelerator": "nvidia-gpu"}
    assert "nodeSelector" in changed(NODES, gpu_pod(nodeSelector=None))["spec"]
    assert "nodeSelector" in changed(NODES, gpu_pod(nodeSelector={}))["spec"]


def test_another_value_is_a_conflict_that_names_both() -> None:
    found = decision(NODES, gpu_pod(nodeSelector={"accelerator": "l4"}))
    assert found.changes == []
    (refusal,) = said(found.findings)
    assert refusal.startswith("deny nodes: nodeSelector accelerator=l4 contradicts accelerator=nvidia-gpu")
    assert found.findings[0].final
    assert found.findings[0].pointer == "/spec/nodeSelector"
    kept = decision(KEPT, gpu_pod(nodeSelector={"accelerator": "l4"}))
    assert (kept.findings, kept.changes) == ([], [])
    assert named(decision(NODES, gpu_pod(nodeSelector={"accelerator": ""})).findings) == [("deny", "nodes")]


@pytest.mark.parametrize(
    "affinity",
    [
        required([on("In", "nvidia-gpu")]),
        required([on("In", "l4", "nvidia-gpu")]),
        required([on("Exists")]),
        required([on("NotIn", "l4")]),
        required([on("Gt", "1")]),
        required([on("In", "l4")], [on("In", "nvidia-gpu")]),  # one term is enough
        required([on("In", "l4")], [on("In", "z", key="zone")]),
        required([on("In", "l4")], None),
        required([on("In", "z", key="zone"), on("Exists")]),
    ],
)
def test_required_affinity_on_the_key_counts(affinity: dict[str, Any]) -> None:
    found = decision(NODES, gpu_pod(affinity=affinity))
    assert (found.findings, found.changes) == ([], [])


@pytest.mark.parametrize(
    ("affinity", "shown"),
    [
        (required([on("In", "l4")]), "accelerator=l4"),
        (required([on("In", "l4", "a100")]), "accelerator=l4|a100"),
        (required([on("NotIn", "x", "nvidia-gpu")]), "accelerator=NotIn x|nvidia-gpu"),
        (required([on("DoesNotExist")]), "accelerator=DoesNotExist"),
        (required([on("Exists"), on("In", "l4")]), "accelerator=l4"),
        (required([on("In", "l4")], [on("In", "a100")]), "accelerator=l4 or a100"),
    ],
)
def test_required_affinity_can_conflict(affinity: dict[str, Any], shown: str) -> None:
    found = decision(NODES, gpu_pod(affinity=affinity))
    assert found.changes == []
    assert [finding.message.split(" contradicts ")[0] for finding in found.findings] == [
        f"required node affinity {shown}"
    ]
    assert found.findings[0].pointer == "/spec/affinity/nodeAffinity"
    assert found.findings[0].final
    kept = decision(KEPT, gpu_pod(affinity=affinity))
    assert (kept.findings, kept.changes) == ([], [])


@pytest.mark.parametrize(
    "affinity",
    [
        required([on("In", "z", key="zone")]),
        required(None),
        required(),
        {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"preference": {}, "weight": 1}]}},
        {"podAffinity": {}},
    ],
)
def test_other_affinity_does_not_count(affinity: dict[str, Any]) -> None:
    assert named(decision(NODES, gpu_pod(affinity=affinity)).changes) == [("inject", "nodes")]


PLACED: list[dict[str, Any]] = [
    {"nodeName": "node-1"},
    {"schedulerName": "volcano"},
    {"schedulingGates": [{"name": "example.com/queue"}]},
    {"labels": {"kueue.x-k8s.io/queue-name": "q"}},
    {"labels": {"kueue.x-k8s.io/managed": "true"}},
    {"labels": {"kai.scheduler/queue": ""}},
]


@pytest.mark.parametrize("placed", PLACED)
def test_what_others_place_gets_no_selector_and_no_conflict(placed: dict[str, Any]) -> None:
    both = policy(
        "  gpus: {presets: [nvidia]}\n"
        "  inject: [{name: nodes, nodeSelector: {accelerator: nvidia-gpu}, taints: [{key: t, effect: NoSchedule}]}]\n"
    )
    found = decision(both, gpu_pod(nodeSelector={"accelerator": "l4"}, **placed))
    assert found.findings == []
    assert [change.pointer for change in found.changes] == ["/spec/tolerations"]


def test_neither_does_a_pod_of_a_daemonset() -> None:
    pod = gpu_pod()
    pod["metadata"]["ownerReferences"] = [{"kind": "DaemonSet", "name": "d", "controller": True}]
    assert decision(NODES, pod).changes == []
    pod["metadata"]["ownerReferences"][0]["kind"] = "Job"
    assert decision(NODES, pod).changes != []


def test_no_gates_and_another_scheduler_are_nothing_special() -> None:
    plain: dict[str, Any] = {"schedulingGates": [], "schedulerName": "default-scheduler", "nodeName": ""}
    for key, value in plain.items():
        assert decision(NODES, gpu_pod(**{key: value})).changes != []


def test_injections_see_what_those_before_them_add() -> None:
    twice = policy(
        """
  gpus: {presets: [nvidia]}
  inject:
    - {name: one, nodeSelector: {a: "1"}, taints: [{key: t, effect: NoSchedule}]}
    - {name: two, nodeSelector: {a: "1", b: "2"}, taints: [{key: t, effect: NoSchedule}, {key: t, effect: NoExecute}]}
    - {name: three, nodeSelector: {a: "3"}, match: {podLabels: {three: "*"}}}
    - {name: four, nodeSelector: {a: "4"}, onConflict: keep}
"""
    )
    after = changed(twice, gpu_pod())["spec"]
    assert after["nodeSelector"] == {"a": "1", "b": "2"}
    assert after["tolerations"] == [
        {"key": "t", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "t", "operator": "Exists", "effect": "NoExecute"},
    ]
    assert named(decision(twice, gpu_pod(labels={"three": "x"})).findings) == [("deny", "three")]


TOLERATING = policy(
    """
  gpus: {presets: [nvidia]}
  inject:
    - name: as-written
      tolerations:
        - {key: reserved, operator: Equal, value: research, effect: NoSchedule}
        - {key: bare, operator: Equal, value: ""}
        - {key: soon, operator: Exists, effect: NoExecute, tolerationSeconds: 0}
"""
)
WRITTEN = [
    {"key": "reserved", "operator": "Equal", "value": "research", "effect": "NoSchedule"},
    {"key": "bare", "operator": "Equal"},
    {"key": "soon", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0},
]


def test_tolerations_are_added_as_they_are_written() -> None:
    assert changed(TOLERATING, gpu_pod())["spec"]["tolerations"] == WRITTEN
    other = {"key": "reserved", "operator": "Equal", "value": "other"}
    assert changed(TOLERATING, gpu_pod(tolerations=[other]))["spec"]["tolerations"] == [other, *WRITTEN]
    # A second pod does not share them.
    assert changed(TOLERATING, gpu_pod())["spec"]["tolerations"][0] is not WRITTEN[0]


def test_a_toleration_that_is_there_is_not_added_again() -> None:
    # As the API server stores it, without the empty value, and as somebody else may write it.
    assert decision(TOLERATING, gpu_pod(tolerations=WRITTEN)).changes == []
    explicit = [*WRITTEN[:1], {"key": "bare", "operator": "Equal", "value": "", "effect": None}, *WRITTEN[2:]]
    assert decision(TOLERATING, gpu_pod(tolerations=explicit)).changes == []
    forever = {"key": "soon", "operator": "Exists", "effect": "NoExecute"}
    assert len(decision(TOLERATING, gpu_pod(tolerations=[*WRITTEN[:2], forever])).changes) == 1


@pytest.mark.parametrize(
    ("tolerations", "added"),
    [
        ([], True),
        ([{"operator": "Exists"}], False),
        ([{"key": "nvidia.com/gpu", "operator": "Exists"}], False),
        ([{"key": "nvidia.com/gpu", "value": "present"}], False),
        ([{"key": "nvidia.com/gpu", "value": "other"}], True),
        ([{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoExecute"}], True),
        ([{"key": "nvidia.com/gpu", "operator": "Lt", "value": "1"}], True),
    ],
)
def test_a_taint_that_is_tolerated_needs_no_toleration(tolerations: list[dict[str, Any]], added: bool) -> None:
    taint = policy(
        "  gpus: {presets: [nvidia]}\n"
        "  inject: [{name: taint, taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]}]\n"
    )
    wanted = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}] if added else []
    after = changed(taint, gpu_pod(tolerations=tolerations))
    assert after["spec"]["tolerations"] == [*tolerations, *wanted]


@pytest.mark.parametrize(
    ("match", "selected"),
    [
        ("{namespaces: [team]}", True),
        ("{namespaces: [t*, other]}", True),
        ("{namespaces: [other]}", False),
        ("{notNamespaces: [te*]}", False),
        ("{notNamespaces: [other]}", True),
        ("{podLabels: {workload: train*}}", True),
        ("{podLabels: {workload: serve}}", False),
        ("{podLabels: {absent: '*'}}", False),
        ("{resources: [nvidia.com/gpu]}", True),
        ("{resources: ['nvidia.com/mig-*']}", False),
        ("{deviceClasses: [gpu.nvidia.com]}", False),
        ("{runtimeClasses: [nv*]}", True),
        ("{runtimeClasses: [kata]}", False),
        ("{namespaces: [team], podLabels: {workload: serve}}", False),
    ],
)
def test_match(match: str, selected: bool) -> None:
    matched = policy(
        f"  gpus: {{presets: [nvidia]}}\n  inject: [{{name: nodes, match: {match}, nodeSelector: {{a: b}}}}]\n"
    )
    pod = gpu_pod(labels={"workload": "training"}, runtimeClassName="nvidia")
    assert bool(decision(matched, pod).changes) is selected


def test_gpus_are_hidden_from_containers_that_ask_for_none() -> None:
    hiding = policy("  gpus: {presets: [nvidia, kai]}\n  inject: [{name: hide, hideGpus: true}]\n")
    pod = gpu_pod(
        initContainers=[{"name": "fetch"}],
        ephemeralContainers=[{"name": "debug"}],
    )
    pod["spec"]["containers"] += [
        {"name": "web", "env": [{"name": "A", "value": "1"}]},
        {"name": "set", "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]},
        {"name": "claims", "resources": {"claims": [{"name": "device"}]}},
    ]
    void = {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}
    after = changed(hiding, pod)["spec"]
    assert after["initContainers"][0]["env"] == [void]
    assert [each.get("env") for each in after["containers"]] == [
        None,
        [{"name": "A", "value": "1"}, void],
        [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}],
        None,
    ]
    assert after["ephemeralContainers"] == [{"name": "debug"}]
    # Which container a scheduler gives a fraction to is not known.
    assert decision(hiding, gpu_pod(annotations={"gpu-fraction": "0.5"})).changes == []
