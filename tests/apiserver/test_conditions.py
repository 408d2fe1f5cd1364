"""Which pods the API server sends: where the CEL conditions are false, the engine has nothing to do."""

import uuid
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from app.admission.webhook import Phase
from app.engine import decide
from app.model.context import ClusterFacts, Context
from app.model.finding import Finding
from app.model.pod import Pod
from app.policy.compiled import Policy
from tests.controlplane import ControlPlane, wait_for
from tests.manifests.recorder import Recorder
from tests.manifests.site import Site
from tests.support.cluster import cpu_pod, gpu_pod, nvidia_runtime_class
from tests.support.pods import RUNTIME_CLASSES, pods


@pytest.fixture(scope="module")
def site(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    for name in RUNTIME_CLASSES:
        nvidia_runtime_class(control_plane, name)
    with Recorder(control_plane, tmp_path_factory.mktemp("recorder")) as recorder:
        site = Site(control_plane, recorder, uuid.uuid4().hex[:8])
        wait_for(site.ready, message="all configurations known to the API server")
        yield site


@pytest.mark.parametrize("mode", ["audit", "enforce"])
def test_where_the_conditions_are_false_the_engine_does_nothing(site: Site, mode: str) -> None:
    """500 generated pods, by six policies at once."""
    facts = ClusterFacts(claims={(site.namespaces[mode], "gpu"): ("gpu.nvidia.com",)})
    context = Context(namespace=site.namespaces[mode], today=date(2026, 1, 1), facts=facts)
    missed, needless, idle, busy = [], 0, 0, dict.fromkeys(site.configured, 0)
    for pod in pods(seed=500, count=500):
        response, calls = site.tried(mode, pod)
        seen = response.expect(201)
        assert len(calls) == len({(call.configuration, call.phase) for call in calls}), "one call a phase at most"
        for label, each in site.configured.items():
            called = {call.phase: call.entry for call in calls if call.configuration == label}
            needs = _needs(each.judging, seen, context)
            missed += [(label, phase, needs[phase], pod) for phase in needs if phase not in called]
            busy[label] += bool(needs)
            if label == "shipped" and not needs:
                idle += 1
                needless += bool(called)
            if mode == "enforce" and "resourceClaims" not in pod["spec"] and each.scope == "tight":
                refused = any(finding.outcome == "deny" for finding in needs.get("validate", ()))
                assert not (refused and called["validate"].endswith("-lenient")), (label, needs, pod)
    assert not missed
    assert min(busy.values()) > 20, "the pods give every policy something to do"
    assert needless < idle / 3, "most pods that need nothing are not sent"


def _needs(policy: Policy, seen: dict[str, Any], context: Context) -> dict[Phase, list[Finding]]:
    """What the engine would say or do in each phase."""
    pod = Pod.of(seen)
    if policy.exempt.reason(context.namespace or "", pod):
        return {}
    decisions = [decide(policy, pod, context, repair=repair) for repair in (False, True)]
    said = [finding for decision in decisions for finding in decision.findings if finding.outcome != "note"]
    early = [finding for finding in said if finding.early or finding.final] + decisions[1].changes
    late = [finding for finding in said if not finding.early]
    needs: dict[Phase, list[Finding]] = {"mutate": early, "validate": late}
    return {phase: findings for phase, findings in needs.items() if findings}


@pytest.mark.parametrize("kind", ["containers", "initContainers"])
@pytest.mark.parametrize(
    "resources",
    [
        {"requests": {"nvidia.com/gpu": 1}},
        {"requests": {"nvidia.com/gpu": 6}, "limits": {"nvidia.com/gpu": 8}},
        {"limits": {"nvidia.com/mig-1g.5gb": "500m"}},
        {"limits": {"nvidia.com/gpu": -1}},
    ],
    ids=["no limit", "unequal", "fraction", "negative"],
)
def test_what_the_api_server_is_about_to_refuse_is_sent_first(site: Site, kind: str, resources: dict[str, Any]) -> None:
    pod = cpu_pod()
    pod["spec"].setdefault(kind, [{"name": "setup", "image": "x"}])[0]["resources"] = resources
    response, calls = site.tried("enforce", pod)
    assert response.status == 422
    assert {call.entry for call in calls} == {"mutate-enforce-gpu"}


def test_gpus_that_a_limit_range_hands_out_count(site: Site) -> None:
    """It sets a limit; the request comes from the limit, before any webhook."""
    namespace = site.namespace("enforce")
    item = {"type": "Container", "default": {"nvidia.com/gpu": "1"}}
    limits = {"metadata": {"name": "gpus"}, "spec": {"limits": [item]}}
    api = site.plane.client()
    api.post(f"/api/v1/namespaces/{namespace}/limitranges", limits).expect(201)

    def sent() -> bool:
        site.recorder.calls()
        api.post(f"/api/v1/namespaces/{namespace}/pods?dryRun=All", cpu_pod())
        called = {call.entry for call in site.recorder.calls()}
        return called == {"mutate-enforce-gpu", "validate-enforce-gpu"}

    wait_for(sent, message="a pod that was given a GPU sent to both phases")


def test_exempt_and_mirror_pods_are_not_sent(site: Site) -> None:
    account = {"metadata": {"name": "exporter"}}
    path = f"/api/v1/namespaces/{site.namespaces['enforce']}/serviceaccounts"
    site.plane.client().post(path, account).expect(201)
    labelled, unlike, mirror = gpu_pod(), gpu_pod(), gpu_pod(nodeName="node-1")
    labelled["metadata"]["labels"] = {"app": "exporter", "more": "x"}
    unlike["metadata"]["labels"] = {"app": "exporters"}
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    both = {"mutate-enforce-gpu", "validate-enforce-gpu"}
    assert site.called("POST", "?dryRun=All", labelled) == set()
    assert site.called("POST", "?dryRun=All", unlike) == both
    assert site.called("POST", "?dryRun=All", mirror) == set()
    assert site.called("POST", "?dryRun=All", gpu_pod(serviceAccountName="exporter")) == set()
    assert site.called("POST", "?dryRun=All", labelled, "shipped") == both


@pytest.mark.parametrize("spec", [{}, {"containers": None}, {"containers": []}], ids=["absent", "null", "empty"])
def test_a_pod_without_containers_gets_the_api_servers_own_words(site: Site, spec: dict[str, Any]) -> None:
    """A condition that is an error would refuse it first, in CEL's."""
    response, _ = site.tried("enforce", {"metadata": {"name": "empty"}, "spec": spec})
    assert response.status == 422
    assert "spec.containers: Required value" in response.body["message"]


TOLERATED = {"key": "example.com/gpu", "operator": "Exists"}
HOLD = "example.com/hold"
JUDGED = {"validate-enforce-gpu"}


def made(site: Site, pod: dict[str, Any]) -> str:
    """Create the pod under a new name; its path."""
    name = f"pod-{uuid.uuid4().hex[:8]}"
    pod["metadata"]["name"] = name
    site.request("POST", "enforce", "", pod)[0].expect(201)
    return f"/{name}"


def test_updates_are_judged_where_they_can_make_a_pod_worse(site: Site) -> None:
    path = made(site, gpu_pod(tolerations=[TOLERATED], initContainers=[{"name": "setup", "image": "x"}]))
    assert site.called("PATCH", path, {"metadata": {"labels": {"a": "b"}, "finalizers": [HOLD]}}) == set()
    assert site.called("PATCH", path, {"metadata": {"annotations": {"a": "b"}}}) == JUDGED
    assert site.called("PATCH", path, {"metadata": {"annotations": {"a": "b"}}}) == set()
    assert site.called("PATCH", path, {"spec": {"activeDeadlineSeconds": 900}}) == set()
    now = site.request("GET", "enforce", path, None)[0].expect(200)["spec"]["tolerations"]
    more = {**TOLERATED, "effect": "NoSchedule"}
    assert site.called("PATCH", path, {"spec": {"tolerations": [*now, more]}}) == JUDGED
    assert site.called("DELETE", path, {"gracePeriodSeconds": 0}) == set()
    # The update that ends it: with this one held up by an outage, the pod and its namespace would never go.
    assert site.called("PATCH", path, {"metadata": {"annotations": {"a": "c"}, "finalizers": None}}) == set()


@pytest.mark.parametrize("kind", ["containers", "initContainers"])
def test_an_image_counts_where_an_exception_names_images(site: Site, kind: str) -> None:
    path = made(site, gpu_pod(initContainers=[{"name": "setup", "image": "x"}]))
    name = "main" if kind == "containers" else "setup"
    response, calls = site.patched(path, {"spec": {kind: [{"name": name, "image": "y"}]}})
    response.expect(200)
    # With the broad scope nobody knows what exceptions a policy will have.
    assert {call.configuration for call in calls} == {"strict", "broad"}


def test_an_ephemeral_container_is_always_judged(site: Site) -> None:
    debug = {"name": "debug", "image": "x", "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}
    patch = {"spec": {"ephemeralContainers": [debug]}}
    assert site.called("PATCH", f"{made(site, gpu_pod())}/ephemeralcontainers", patch) == JUDGED
    assert site.called("PATCH", f"{made(site, cpu_pod())}/ephemeralcontainers", patch) == {"validate-enforce-other"}


def test_a_gated_pod_that_is_led_to_gpu_nodes_is_judged(site: Site) -> None:
    term = {"matchExpressions": [{"key": "accelerator", "operator": "Exists"}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    for spec in ({"nodeSelector": {"accelerator": "nvidia-gpu"}}, {"affinity": {"nodeAffinity": required}}):
        path = made(site, cpu_pod(schedulingGates=[{"name": "example.com/queue"}]))
        assert site.called("PATCH", path, {"spec": spec}) == {"validate-enforce-lenient"}
