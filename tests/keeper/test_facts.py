"""Cluster facts in a ConfigMap of a real API server, as servers read them."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from app.cluster.keeper.cluster_facts import MAX_SIZE, bounded
from app.cluster.keeper.running import EXAMPLES, owner_of, running
from app.manifests.keeper_names import CLUSTER_FACTS
from app.model.context import UNKNOWN_CLUSTER, RuntimeClassFact
from app.policy.load import load
from app.sources.facts import parse_facts
from tests.support.cluster import gpu_pod
from tests.support.keeper import Site, policy

ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"


def privileged(name: str, owner: dict[str, Any] | None = None, **labels: str) -> dict[str, Any]:
    pod = gpu_pod(name, schedulerName="none")
    pod["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    pod["metadata"] |= {"labels": labels, **({"ownerReferences": [owner]} if owner else {})}
    return pod


def owned_by(kind: str, name: str) -> dict[str, Any]:
    version = "batch/v1" if kind == "Job" else "apps/v1"
    return {"apiVersion": version, "kind": kind, "name": name, "uid": str(uuid.uuid4()), "controller": True}


def test_what_exists_and_what_runs_is_written_as_servers_read_it(site: Site) -> None:
    name = f"class-{uuid.uuid4().hex[:8]}"
    selector = {"accelerator": "nvidia-gpu"}
    made = {"metadata": {"name": name}, "handler": "nvidia", "scheduling": {"nodeSelector": selector}}
    site.api.post(CLASSES, made).expect(201)
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}
    template = {"metadata": {"name": "one-gpu"}, "spec": {"spec": {"devices": {"requests": [request]}}}}
    claims = f"/apis/resource.k8s.io/v1/namespaces/{site.team}/resourceclaimtemplates"
    site.api.post(claims, template).expect(201)
    pods = f"/api/v1/namespaces/{site.team}/pods"
    for pod in (gpu_pod("good", schedulerName="none"), privileged("bad"), {**privileged("ended")}):
        site.api.post(pods, pod).expect(201)
    site.api.patch(f"{pods}/ended/status", {"status": {"phase": "Succeeded"}}).expect(200)
    site.write_policy(policy(site.team))
    try:
        assert site.keeper().step()
        written = site.read("configmaps", CLUSTER_FACTS)
    finally:
        site.api.delete(f"{CLASSES}/{name}")
    assert written
    read = parse_facts(written["facts.json"])
    assert read.collected_at
    assert abs(datetime.now(UTC) - read.collected_at) < timedelta(minutes=5)
    facts = read.facts
    assert facts.runtime_classes
    assert facts.runtime_classes[name] == RuntimeClassFact(name, selector)
    assert facts.claims[site.team, "one-gpu"] == ("gpu.nvidia.com",)
    assert facts.namespaces
    here = facts.namespaces[site.team]
    assert (here.gpu_workloads, here.refused) == (2, 1)
    assert here.examples == (("Pod", "bad", 1, ("p/no-privileged",)),)
    assert site.namespace not in facts.namespaces


def test_they_are_rewritten_when_something_changed_or_they_get_old(site: Site) -> None:
    ahead, clock = [timedelta()], [0.0]
    keeper = site.keeper(now=lambda: datetime.now(UTC) + ahead[0], clock=lambda: clock[0])

    def later(seconds: float) -> str:
        clock[0] += seconds
        ahead[0] += timedelta(seconds=seconds)
        keeper.step()
        version: str = site.api.get(site.path("configmaps", CLUSTER_FACTS)).expect(200)["metadata"]["resourceVersion"]
        return version

    first = later(0)
    assert later(30) == first, "not looked at again yet"
    assert later(300) != first, "rewritten well before readers forget them"
    patch = {"data": {"facts.json": "nonsense"}}
    site.api.patch(site.path("configmaps", CLUSTER_FACTS), patch).expect(200)
    later(61)
    assert site.facts["version"] == 1


def test_without_a_right_a_part_is_left_out_and_the_right_named_once(site: Site) -> None:
    role = site.api.get(f"{ROLES}/{site.name}").expect(200)
    optional = ("pods", "runtimeclasses")
    rules = [rule for rule in role["rules"] if not set(optional) & set(rule["resources"])]
    site.api.put(f"{ROLES}/{site.name}", {**role, "rules": rules}).expect(200)
    site.write_policy(policy(site.team))
    keeper = site.keeper()

    def noticed() -> Any:
        return keeper.events.of("facts_without_namespaces") and keeper.events.of("facts_without_runtimeclasses")

    # The authorizer hears of a changed role a moment later; each keeper looks anew.
    def looked() -> Any:
        nonlocal keeper
        keeper = site.keeper()
        keeper.step()
        return noticed()

    site.plane.wait_for(looked, message="the rights taken away")
    for _ in range(3):
        assert keeper.step()
    assert set(site.facts) >= {"version", "collectedAt", "deviceClasses", "claimTemplates"}
    assert not {"namespaces", "runtimeClasses"} & set(site.facts)
    (said,) = keeper.events.of("facts_without_namespaces")
    assert 'resources: ["pods"], verbs: ["list"]' in said["reason"]
    assert "ClusterRole" in said["reason"]


def test_owners() -> None:
    replica_set = owned_by("ReplicaSet", "web-6d4b")
    assert owner_of(privileged("web-6d4b-x", replica_set, **{"pod-template-hash": "6d4b"})) == ("Deployment", "web")
    assert owner_of(privileged("a", replica_set)) == ("ReplicaSet", "web-6d4b")
    assert owner_of(privileged("a", owned_by("Job", "train"))) == ("Job", "train")
    assert owner_of(privileged("a")) == ("Pod", "a")


def test_workloads_are_counted_once_and_the_largest_are_the_examples() -> None:
    made = load([("policy.yaml", policy("team").encode())])
    pods = [privileged(f"p{job}-{pod}", owned_by("Job", f"job-{job}")) for job in range(8) for pod in range(job + 1)]
    ending = privileged("gone")
    ending["metadata"]["deletionTimestamp"] = "2026-12-02T10:00:00Z"
    for pod in (*pods, ending):
        pod["metadata"]["namespace"] = "team"
    found = running(made, [*pods, ending], UNKNOWN_CLUSTER, datetime.now(UTC).date())["team"]
    assert (found["gpuWorkloads"], found["refused"]) == (8, 8)
    assert [each["name"] for each in found["examples"]] == [f"job-{job}" for job in (7, 6, 5, 4, 3)]
    assert [each["pods"] for each in found["examples"]] == [8, 7, 6, 5, 4]
    assert len(found["examples"]) == EXAMPLES


def test_what_does_not_fit_a_config_map_is_left_out_in_order() -> None:
    example = {"kind": "Job", "name": "x" * 60, "pods": 1, "rules": ["p/no-privileged"]}
    names = [f"namespace-{number}" for number in range(5000)]
    small = {"version": 1, "runtimeClasses": [{"name": "nvidia", "handler": "nvidia"}]}
    assert bounded(small) == (orjson.dumps(small), [])
    spaces = {name: {"gpuWorkloads": 1, "refused": 1, "examples": [example] * 3} for name in names}
    content, left_out = bounded({**small, "namespaces": spaces})
    assert left_out == ["examples"]
    assert len(content) <= MAX_SIZE
    assert len(parse_facts(content).facts.namespaces or {}) == 5000
    claims = [{"namespace": name, "name": "c" * 200, "deviceClasses": ["gpu.nvidia.com"]} for name in names]
    content, left_out = bounded({**small, "claimTemplates": claims, "namespaces": spaces})
    assert left_out == ["examples", "namespaces", "claimTemplates"]
    assert parse_facts(content).facts.runtime_classes == {"nvidia": RuntimeClassFact("nvidia")}
