"""A scan of namespaces of a real API server: what is judged, what stands for what, and what is passed over."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app.cluster.client import Cluster
from app.cluster.errors import Forbidden, NotFound
from app.cluster.scan import Scan
from app.policy.compiled import Mode
from app.report.results import InputError, JudgedObject
from app.report.snapshot import NamespaceState, Snapshot, Workload
from app.sources.policies import read_policy
from tests.controlplane import ControlPlane
from tests.support.apiproxy import Fault, api_proxy
from tests.support.cluster import MODE_LABEL, installed, nvidia_runtime_class
from tests.support.server import Server
from tests.support.workloads import (
    BAD,
    CPU,
    GOOD,
    PATHS,
    controller,
    create,
    cron_job,
    custom_resource,
    deployment,
    job,
    pod,
    ray_cluster,
)

NOW = datetime(2026, 12, 2, 10, tzinfo=UTC)


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> ControlPlane:
    nvidia_runtime_class(control_plane)
    custom_resource(control_plane, "ray.io", "v1", "RayCluster", "rayclusters")
    custom_resource(control_plane, "trainer.kubeflow.org", "v1alpha1", "TrainJob", "trainjobs")
    custom_resource(control_plane, "jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets")
    custom_resource(control_plane, "example.com", "v1", "Widget", "widgets")
    return control_plane


@pytest.fixture
def cluster(plane: ControlPlane) -> Cluster:
    return Cluster.connect(kubeconfig=str(plane.kubeconfig))


def scan(
    cluster: Cluster, namespace: str, mode: Mode | None = None
) -> tuple[list[JudgedObject], list[InputError], Snapshot]:
    run = Scan(cluster, read_policy("shipped"), NOW.date(), namespaces=[namespace] if namespace else [], mode=mode)
    found = list(run.objects())
    judged = [each for each in found if isinstance(each, JudgedObject)]
    errors = [each for each in found if isinstance(each, InputError)]
    return judged, errors, run.snapshot(NOW)


def titles(judged: Iterable[JudgedObject]) -> list[str]:
    return sorted(f"{each.kind}/{each.name}" for each in judged)


def seen(snapshot: Snapshot) -> NamespaceState:
    (state,) = snapshot.namespaces
    return state


def workload(snapshot: Snapshot, name: str) -> Workload:
    (found,) = (each for each in seen(snapshot).workloads if each.name == name)
    return found


def pods_there(plane: ControlPlane, namespace: str, count: int) -> None:
    def there() -> bool:
        return len(plane.client().get(PATHS["Pod"].format(namespace)).expect(200)["items"]) == count

    plane.wait_for(there, message=f"{count} pods in {namespace}")


def test_a_workload_stands_for_its_pods(plane: ControlPlane, cluster: Cluster) -> None:
    namespace = plane.namespace("scan")
    create(plane, namespace, deployment("web", BAD, replicas=3), cron_job("nightly", GOOD))
    pods_there(plane, namespace, 3)
    judged, errors, snapshot = scan(cluster, namespace, "enforce")
    assert (titles(judged), errors) == (["CronJob/nightly", "Deployment/web"], [])
    web = workload(snapshot, "web")
    assert (web.pods, web.state, web.gpu, web.template) == (3, "refused", True, "/spec/template/spec")
    assert [(each.rule, each.outcome) for each in web.findings if each.outcome == "deny"] == [("no-privileged", "deny")]
    nightly = workload(snapshot, "nightly")
    assert (nightly.pods, nightly.state, nightly.template) == (0, "changed", "/spec/jobTemplate/spec/template/spec")
    assert {"op": "add", "path": f"{nightly.template}/runtimeClassName", "value": "nvidia"} in nightly.patch


def test_a_pod_that_nothing_known_has_made_is_judged_itself(plane: ControlPlane, cluster: Cluster) -> None:
    namespace = plane.namespace("scan")
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
    stored = plane.client().post(f"/apis/example.com/v1/namespaces/{namespace}/widgets", widget).expect(201)
    create(plane, namespace, pod("bare", BAD), pod("of-widget", GOOD, stored), pod("cpu", CPU))
    judged, _, snapshot = scan(cluster, namespace)
    assert titles(judged) == ["Pod/bare", "Pod/cpu", "Pod/of-widget"]
    assert [(each.name, each.state, each.pods) for each in seen(snapshot).workloads] == [
        ("bare", "refused", 1),
        ("of-widget", "changed", 1),
    ]


def test_a_custom_resource_of_a_known_kind_is_judged_and_stands_for_its_pods(
    plane: ControlPlane, cluster: Cluster
) -> None:
    namespace = plane.namespace("scan")
    (ray,) = create(plane, namespace, ray_cluster("ray", BAD))
    create(plane, namespace, pod("ray-0", BAD, ray), pod("ray-1", BAD, ray))
    judged, _, snapshot = scan(cluster, namespace)
    assert titles(judged) == ["RayCluster/ray"]
    (found,) = seen(snapshot).workloads  # the head has no GPU
    assert (found.template, found.pods, found.state) == ("/spec/workerGroupSpecs/0/template/spec", 2, "refused")


def test_what_an_object_owns_that_is_only_part_of_the_truth_is_judged_too(
    plane: ControlPlane, cluster: Cluster
) -> None:
    namespace = plane.namespace("scan")
    train = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "t"}, "spec": {}}
    (owner,) = create(plane, namespace, train)
    replicated = [{"name": "node", "template": {"spec": {"template": {"spec": BAD}}}}]
    jobs = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "spec": {"replicatedJobs": replicated}}
    create(plane, namespace, {**jobs, "metadata": {"name": "t", "ownerReferences": [controller(owner)]}})
    _, _, snapshot = scan(cluster, namespace)
    assert [(each.kind, each.state) for each in seen(snapshot).workloads] == [("JobSet", "refused")]


def test_what_was_injected_at_creation_is_judged_as_its_template(plane: ControlPlane, cluster: Cluster) -> None:
    with Server("shipped", drains=False) as server, installed(plane, server) as made:
        namespace = made.namespace("assist")
        made.wait_until_known(namespace)
        create(plane, namespace, deployment("web", GOOD), pod("bare", GOOD))
        pods_there(plane, namespace, 2)
        items = plane.client().get(PATHS["Pod"].format(namespace)).expect(200)["items"]
    assert [item["spec"]["runtimeClassName"] for item in items] == ["nvidia", "nvidia"]
    judged, _, snapshot = scan(cluster, namespace)
    assert titles(judged) == ["Deployment/web", "Pod/bare"]
    assert (workload(snapshot, "web").state, workload(snapshot, "web").pods) == ("changed", 1)
    assert workload(snapshot, "bare").state == "ready"  # nothing tells what it was before


def replica_sets(plane: ControlPlane, namespace: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = plane.client().get(PATHS["ReplicaSet"].format(namespace)).expect(200)["items"]
    return items


def test_the_mode_is_that_of_the_label_and_may_be_another(plane: ControlPlane, cluster: Cluster) -> None:
    namespace = plane.namespace("scan", {MODE_LABEL: "enforce"})
    create(plane, namespace, pod("bare", BAD))
    (own,), _, snapshot = scan(cluster, namespace)
    assert (own.pods[0].mode, own.pods[0].allowed) == ("enforce", False)
    state = seen(snapshot)
    assert (state.mode, state.source, state.label, state.label_valid, state.next) == (
        "enforce", "label", "enforce", True, None,
    )  # fmt: skip
    (other,), _, snapshot = scan(cluster, namespace, "warn")
    assert (other.pods[0].mode, other.pods[0].allowed, other.pods[0].patch) == ("warn", True, ())
    assert workload(snapshot, "bare").state == "refused"  # of enforce, whatever is asked


def test_a_label_that_means_nothing(plane: ControlPlane, cluster: Cluster) -> None:
    namespace = plane.namespace("scan", {MODE_LABEL: "strict"})
    state = seen(scan(cluster, namespace)[2])
    assert (state.mode, state.source, state.label, state.label_valid, state.next) == (
        "audit", "default", "strict", False, "warn",
    )  # fmt: skip


def test_what_has_finished_is_left_out(plane: ControlPlane, cluster: Cluster) -> None:
    namespace = plane.namespace("scan")
    create(plane, namespace, job("done", BAD, suspend=True), job("waits", BAD, suspend=True), pod("over", BAD))
    done = [{"type": kind, "status": "True", "lastTransitionTime": "2026-12-02T10:00:00Z"} for kind in
            ("FailureTarget", "Failed")]  # fmt: skip
    status = {"conditions": done, "startTime": "2026-12-02T09:00:00Z"}
    api = plane.client()
    api.patch(f"{PATHS['Job'].format(namespace)}/done/status", {"status": status}).expect(200)
    api.patch(f"{PATHS['Pod'].format(namespace)}/over/status", {"status": {"phase": "Succeeded"}}).expect(200)
    judged, _, _ = scan(cluster, namespace)
    assert titles(judged) == ["Job/waits"]


def test_an_exempt_workload_has_no_findings_and_says_so(plane: ControlPlane, cluster: Cluster, tmp_path: Path) -> None:
    namespace = plane.namespace("scan")
    create(plane, namespace, pod("bare", BAD), pod("cpu", CPU))
    file = tmp_path / "policy.yaml"
    file.write_text(
        "apiVersion: gpugate.dev/v1alpha1\nkind: GpuPolicy\nmetadata: {name: p}\nspec:\n  gpus: {presets: [nvidia]}\n"
        f"  exempt: {{namespaces: [{namespace}]}}\n  rules: [{{rule: no-privileged}}]\n"
    )
    run = Scan(cluster, read_policy(str(file)), NOW.date(), namespaces=[namespace])
    assert titles(each for each in run.objects() if isinstance(each, JudgedObject)) == ["Pod/bare", "Pod/cpu"]
    state = seen(run.snapshot(NOW))
    assert state.exempt
    assert [(each.name, each.exempt, each.state, each.findings) for each in state.workloads] == [
        ("bare", "namespace", "ready", ())
    ]


def test_exceptions_that_can_matter_here(plane: ControlPlane, cluster: Cluster, tmp_path: Path) -> None:
    namespace = plane.namespace("scan")
    create(plane, namespace, pod("bare", BAD))
    entry = "{{name: {}, rules: [no-privileged], match: {{namespaces: [{}]}}, owner: a@b, reason: R-1, expires: {}}}"
    held = [("here", namespace, "2026-12-10"), ("ended", namespace, "2026-12-01"), ("elsewhere", "x", "2027-01-01")]
    file = tmp_path / "policy.yaml"
    file.write_text(
        "apiVersion: gpugate.dev/v1alpha1\nkind: GpuPolicy\nmetadata: {name: p}\nspec:\n  gpus: {presets: [nvidia]}\n"
        f"  rules: [{{rule: no-privileged}}]\n  exceptions: [{', '.join(entry.format(*each) for each in held)}]\n"
    )
    run = Scan(cluster, read_policy(str(file)), NOW.date(), namespaces=[namespace])
    list(run.objects())
    state = seen(run.snapshot(NOW))
    assert [(each.name, each.rule, str(each.until), each.owner, each.reason) for each in state.exceptions] == [
        ("here", "no-privileged", "2026-12-10", "a@b", "R-1")
    ]
    assert workload(run.snapshot(NOW), "bare").state == "warned"  # the exception ends soon


def test_a_namespace_that_is_not_there(cluster: Cluster) -> None:
    with pytest.raises(NotFound, match=r'^namespaces "gone" was not found in the cluster of context "test"$'):
        scan(cluster, "gone")


def test_a_broken_object_is_said_and_the_rest_goes_on(plane: ControlPlane, cluster: Cluster) -> None:
    namespace = plane.namespace("scan")
    broken = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "broken"}, "spec": "none"}
    create(plane, namespace, broken, ray_cluster("good", GOOD), pod("bare", BAD))
    judged, errors, snapshot = scan(cluster, namespace)
    assert titles(judged) == ["Pod/bare", "RayCluster/broken", "RayCluster/good"]
    (error,) = errors
    assert str(error) == f"{namespace}/RayCluster/broken: spec must be a map, found text"
    assert [(each.where, each.message) for each in snapshot.errors] == [(error.file, error.message)]


def test_a_kind_that_may_not_be_read_is_said_and_the_rest_goes_on(plane: ControlPlane) -> None:
    namespace = plane.namespace("scan")
    create(plane, namespace, pod("bare", BAD), deployment("web", BAD, replicas=0))
    user = f"reader-of-{namespace}"
    listed = {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}
    alone = {"apiGroups": [""], "resources": ["namespaces"], "resourceNames": [namespace], "verbs": ["get"]}
    rights(plane, namespace, user, [listed, alone])
    cluster = Cluster.connect(kubeconfig=str(plane.kubeconfig_for(user)))
    judged, errors, _ = scan(cluster, namespace)
    assert titles(judged) == ["Pod/bare"]
    said = {error.file: error.message for error in reversed(errors)}
    assert said["deployments.apps"].startswith(
        f'user "{user}" may not list deployments.apps in namespace "{namespace}"'
    )
    assert said["cluster facts"].startswith(f'user "{user}" may not list runtimeclasses.node.k8s.io in the whole')


def test_without_a_right_to_the_namespaces_there_is_one_error(plane: ControlPlane) -> None:
    cluster = Cluster.connect(kubeconfig=str(plane.kubeconfig_for("nobody-at-all")))
    run = Scan(cluster, read_policy("shipped"), NOW.date())
    with pytest.raises(Forbidden, match=r'^user "nobody-at-all" may not list namespaces in the whole cluster'):
        list(run.objects())


def rights(plane: ControlPlane, namespace: str, user: str, rules: list[dict[str, Any]]) -> None:
    """A Role of the namespace, bound to the user."""
    api, base = plane.client(), f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "reader"},
        "rules": rules,
    }
    api.post(f"{base}/roles", role).expect(201)
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"}
    binding = {"metadata": {"name": "reader"}, "roleRef": reference}
    subject = {"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}
    api.post(f"{base}/rolebindings", {**binding, "subjects": [subject]}).expect(201)
    path = PATHS["Pod"].format(namespace)
    plane.wait_for(lambda: plane.client(user).get(path).status == 200, message="the right to be known")


def test_a_namespace_that_is_deleted_half_way(plane: ControlPlane, cluster: Cluster) -> None:
    namespace = plane.namespace("scan")
    create(plane, namespace, pod("bare", BAD), deployment("web", BAD, replicas=0))
    run = Scan(cluster, read_policy("shipped"), NOW.date(), namespaces=[namespace])
    found = run.objects()
    first = next(found)
    assert isinstance(first, JudgedObject)
    assert first.kind == "Deployment"
    api = plane.client()
    api.delete(f"{PATHS['Pod'].format(namespace)}/bare", {"gracePeriodSeconds": 0}).expect(200)
    api.delete(f"/api/v1/namespaces/{namespace}").expect(200)
    plane.wait_for(lambda: api.get(f"/api/v1/namespaces/{namespace}").status == 404, message="the namespace gone")
    assert list(found) == []


def test_a_namespace_that_is_being_deleted_is_passed_over(plane: ControlPlane, cluster: Cluster) -> None:
    namespace = plane.namespace("scan")
    held = pod("held", BAD)
    held["metadata"]["finalizers"] = ["gpugate.test/held"]
    create(plane, namespace, held)
    api = plane.client()
    try:
        api.delete(f"/api/v1/namespaces/{namespace}").expect(200)
        judged, errors, snapshot = scan(cluster, namespace)
        assert (judged, errors, snapshot.namespaces) == ([], [], ())
    finally:
        path = f"{PATHS['Pod'].format(namespace)}/held"
        api.patch(path, {"metadata": {"finalizers": None}})
        api.delete(path, {"gracePeriodSeconds": 0})


def test_a_group_that_does_not_answer_is_said_and_the_rest_goes_on(
    plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.cluster.transport._FIRST_PAUSE", 0.01)
    namespace = plane.namespace("scan")
    create(plane, namespace, pod("bare", BAD), ray_cluster("ray", BAD))
    with api_proxy(plane) as proxy:
        proxy.faults.append(Fault(503, times=99, matches=lambda _method, path: path.startswith("/apis/ray.io/v1")))
        proxy.faults.append(
            Fault(404, times=99, matches=lambda _method, path: path == "/apis/jobset.x-k8s.io/v1alpha2")
        )
        cluster = Cluster.connect(kubeconfig=str(proxy.kubeconfig(tmp_path)))
        judged, errors, _ = scan(cluster, namespace)
    assert titles(judged) == ["Pod/bare"]
    assert [error.file for error in errors] == ["kinds of the cluster"]
    assert "answered 503 to GET /apis/ray.io/v1" in errors[0].message


def test_a_list_that_fails_on_the_way_is_said_and_the_rest_goes_on(plane: ControlPlane, tmp_path: Path) -> None:
    namespace = plane.namespace("scan")
    create(plane, namespace, pod("bare", BAD), deployment("web", BAD, replicas=0))
    plane.wait_for(lambda: replica_sets(plane, namespace), message="the ReplicaSet")
    with api_proxy(plane) as proxy:
        gone = Fault(410, times=99, matches=lambda _method, path: "/deployments" in path)
        proxy.faults.append(gone)
        cluster = Cluster.connect(kubeconfig=str(proxy.kubeconfig(tmp_path)))
        judged, errors, _ = scan(cluster, namespace)
    assert titles(judged) == ["Pod/bare", "ReplicaSet/" + replica_sets(plane, namespace)[0]["metadata"]["name"]]
    assert [error.file for error in errors] == ["deployments.apps"]
