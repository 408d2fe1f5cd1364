"""Reports in a real cluster: one a namespace, changed only with the findings, with no more rights than installed."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from app.cluster.client import Cluster
from app.cluster.errors import Forbidden
from app.cluster.reports import NoReports, Written, write_reports
from app.cluster.scan import Scan
from app.manifests.client import Service
from app.manifests.install.scan import scan
from app.manifests.install.settings import Installation
from app.manifests.scan_rbac import REPORTER, SCANNER, scan_rbac
from app.report.openreport import LEFT_OUT
from app.report.snapshot import ClusterId, NamespaceState, ScanError, Snapshot, SnapshotFinding, Workload
from app.sources.policies import read_policy
from tests.controlplane import ControlPlane
from tests.support.apiproxy import write_kubeconfig
from tests.support.cluster import nvidia_runtime_class
from tests.support.workloads import BAD, GOOD, PATHS, create, deployment, pod

NOW = datetime(2026, 12, 2, 10, tzinfo=UTC)
ROOT = Path(__file__).parents[2]
CRDS = ROOT.parent / "shared" / "crds"
REPORTS = "/apis/openreports.io/v1alpha1"
OLDER = "/apis/wgpolicyk8s.io/v1alpha2"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@pytest.fixture(scope="module")
def plane(own_control_plane: ControlPlane) -> ControlPlane:
    nvidia_runtime_class(own_control_plane)
    return own_control_plane


@pytest.fixture
def cluster(plane: ControlPlane) -> Cluster:
    return Cluster.connect(kubeconfig=str(plane.kubeconfig))


def kinds(plane: ControlPlane, *, reports: bool, older: bool) -> None:
    """Have the cluster know these kinds of report, and no other."""
    api = plane.client()
    for file, group, wanted in (
        ("openreports.io_reports.yaml", REPORTS, reports),
        ("wgpolicyk8s.io_policyreports.yaml", OLDER, older),
    ):
        definition = yaml.safe_load((CRDS / file).read_text())
        if wanted:
            definition["metadata"].setdefault("annotations", {})["api-approved.kubernetes.io"] = "unapproved, a test"
            api.post(DEFINITIONS, definition).expect(201, 409)
            path = f"{group}/{definition['spec']['names']['plural']}"
            plane.wait_for(partial(_answers, plane, path, 200), message=f"{path} served")
        else:
            api.delete(f"{DEFINITIONS}/{definition['metadata']['name']}")
            plane.wait_for(partial(_answers, plane, group, 404), message=f"{group} gone")


def _answers(plane: ControlPlane, path: str, status: int) -> bool:
    return plane.client().get(path).status == status


@pytest.fixture
def reports(plane: ControlPlane) -> None:
    kinds(plane, reports=True, older=True)


def write(cluster: Cluster, namespace: str) -> Written:
    return write_reports(cluster, seen(cluster, namespace), namespace)


def seen(cluster: Cluster, namespace: str) -> Snapshot:
    run = Scan(cluster, read_policy("shipped"), NOW.date(), namespaces=[namespace])
    list(run.objects())
    return run.snapshot(NOW)


def counts(written: Written) -> tuple[int, int, int, int]:
    assert written.errors == []
    return written.created, written.updated, written.unchanged, written.deleted


def stored(plane: ControlPlane, namespace: str, resource: str = f"{REPORTS}/namespaces/{{}}/reports") -> list[Any]:
    items: list[Any] = plane.client().get(resource.format(namespace)).expect(200)["items"]
    return items


def test_a_report_follows_the_findings(plane: ControlPlane, cluster: Cluster, reports: None) -> None:
    namespace = plane.namespace("reported")
    create(plane, namespace, deployment("bad", BAD, 0), deployment("good", GOOD, 0), pod("bare", BAD))
    assert counts(write(cluster, namespace)) == (1, 0, 0, 0)
    (first,) = stored(plane, namespace)
    assert first["metadata"]["name"] == "gpugate"
    assert first["summary"] == {"pass": 1, "fail": 2, "warn": 0, "error": 0, "skip": 0}
    assert [each["resources"][0]["name"] for each in first["results"]] == ["bad", "bare"]

    assert counts(write(cluster, namespace)) == (0, 0, 1, 0)
    (same,) = stored(plane, namespace)
    assert same["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]

    path = f"{PATHS['Deployment'].format(namespace)}/bad"
    plane.client().put(path, deployment("bad", GOOD, 0)).expect(200)
    assert counts(write(cluster, namespace)) == (0, 1, 0, 0)
    (changed,) = stored(plane, namespace)
    assert changed["metadata"]["uid"] == first["metadata"]["uid"]
    assert changed["metadata"]["resourceVersion"] != first["metadata"]["resourceVersion"]
    assert changed["summary"]["fail"] == 1

    plane.client().delete(f"{PATHS['Pod'].format(namespace)}/bare", {"gracePeriodSeconds": 0}).expect(200)
    assert counts(write(cluster, namespace)) == (0, 0, 0, 1)
    assert stored(plane, namespace) == []
    assert stored(plane, namespace, f"{OLDER}/namespaces/{{}}/policyreports") == []


def test_what_somebody_else_did_to_a_report_is_undone(plane: ControlPlane, cluster: Cluster, reports: None) -> None:
    namespace = plane.namespace("edited")
    create(plane, namespace, pod("bare", BAD))
    write(cluster, namespace)
    (before,) = stored(plane, namespace)
    path = f"{REPORTS}/namespaces/{namespace}/reports/gpugate"
    plane.client().patch(path, {"summary": {"fail": 0}, "results": None}).expect(200)
    assert counts(write(cluster, namespace)) == (0, 1, 0, 0)
    (after,) = stored(plane, namespace)
    assert (after["summary"], after["results"]) == (before["summary"], before["results"])


def test_kubectl_shows_it(plane: ControlPlane, cluster: Cluster, reports: None) -> None:
    namespace = plane.namespace("shown")
    create(plane, namespace, pod("bare", BAD))
    write(cluster, namespace)
    lines = plane.kubectl("get", "reports.openreports.io", "-n", namespace).stdout.splitlines()
    assert lines[0].split()[:4] == ["NAME", "PASS", "FAIL", "WARN"]
    assert lines[1].split()[:4] == ["gpugate", "0", "1", "0"]


def test_the_older_kind_where_it_is_alone(plane: ControlPlane, cluster: Cluster) -> None:
    kinds(plane, reports=False, older=True)
    namespace = plane.namespace("older")
    create(plane, namespace, pod("bare", BAD))
    assert counts(write(cluster, namespace)) == (1, 0, 0, 0)
    assert counts(write(cluster, namespace)) == (0, 0, 1, 0)
    (found,) = stored(plane, namespace, f"{OLDER}/namespaces/{{}}/policyreports")
    assert (found["kind"], found["summary"]["fail"], found["results"][0]["source"]) == ("PolicyReport", 1, "gpugate")


def test_no_kind_of_report(plane: ControlPlane, cluster: Cluster) -> None:
    kinds(plane, reports=False, older=False)
    with pytest.raises(NoReports, match=r'^the cluster of context "test" knows no kind of report: install the Custom'):
        write(cluster, plane.namespace("unknown"))


def test_5000_findings_have_a_bounded_place(plane: ControlPlane, cluster: Cluster, reports: None) -> None:
    namespace = plane.namespace("many")
    finding = SnapshotFinding("p", "no-privileged", "deny", "container", "main", "/spec", "is privileged " * 30, None)
    workloads = [
        Workload("v1", "Pod", f"pod-{number:04}", "/spec", 1, True, None, "refused", (finding,), ())
        for number in range(5000)
    ]
    snapshot = snapshot_of(namespace, *workloads)
    assert counts(write_reports(cluster, snapshot, namespace)) == (1, 0, 0, 0)
    (found,) = stored(plane, namespace)
    assert len(orjson.dumps(found)) < 700_000
    assert found["summary"]["fail"] == 5000
    kept = len(found["results"]) - 1
    assert found["metadata"]["annotations"] == {LEFT_OUT: str(5000 - kept)}
    assert counts(write_reports(cluster, snapshot, namespace)) == (0, 0, 1, 0)


def snapshot_of(namespace: str, *workloads: Workload) -> Snapshot:
    state = NamespaceState(namespace, "audit", "default", None, True, "warn", False, workloads, ())
    return Snapshot(taken_at=NOW, cluster=ClusterId("test", ""), policies=(), namespaces=(state,), errors=())


def test_a_namespace_that_is_gone_meanwhile(plane: ControlPlane, cluster: Cluster, reports: None) -> None:
    namespace = plane.namespace("there")
    create(plane, namespace, pod("bare", BAD))
    snapshot = seen(cluster, namespace)
    gone = replace(snapshot.namespaces[0], name="gone-meanwhile")
    written = write_reports(cluster, replace(snapshot, namespaces=(gone, *snapshot.namespaces)))
    assert counts(written)[0] == 1


def test_what_is_not_known_takes_no_report_away(plane: ControlPlane, cluster: Cluster, reports: None) -> None:
    namespace = plane.namespace("partly")
    create(plane, namespace, pod("bare", BAD))
    write(cluster, namespace)
    partly = replace(snapshot_of(namespace), errors=(ScanError("pods", "may not list pods"),))
    assert counts(write_reports(cluster, partly, namespace)) == (0, 0, 1, 0)
    assert len(stored(plane, namespace)) == 1


@pytest.fixture
def installed(plane: ControlPlane) -> Iterator[str]:
    """The namespace of an installation with the scan's account and rights, taken away at the end."""
    namespace = plane.namespace("install")
    objects = scan_rbac(namespace)
    apply = yaml.safe_dump_all(objects)
    plane.kubectl("apply", "-f", "-", input=apply)
    yield namespace
    plane.kubectl("delete", "--ignore-not-found", "-f", "-", input=apply)


def account(plane: ControlPlane, namespace: str, folder: Path) -> str:
    """A kubeconfig with the rights of the scan's ServiceAccount, and no others."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{SCANNER}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 600}}
    token = plane.client().post(path, request).expect(201)["status"]["token"]
    secure = {"server": plane.url, "certificate-authority": str(plane.certificate_authority)}
    return str(write_kubeconfig(folder / "scan.kubeconfig", secure, {"token": token}))


def run_cron_job(kubeconfig: str) -> str:
    """Run what the CronJob runs; its last line on standard error."""
    (job,) = (each for each in scan(Installation(Service("gpugate", "gpugate"))) if each["kind"] == "CronJob")
    (container,) = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    arguments = ["--policy=shipped" if each.startswith("--policy=") else each for each in container["args"]]
    command = [sys.executable, "-P", "-m", "app.cli", *arguments, "--kubeconfig", kubeconfig]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    return result.stderr.splitlines()[-1]


def test_the_rights_of_the_install_are_enough_and_reports_go_with_them(
    plane: ControlPlane, reports: None, installed: str, tmp_path: Path
) -> None:
    namespace = plane.namespace("tenant")
    create(plane, namespace, pod("bare", BAD), deployment("web", BAD, 0))
    kubeconfig = account(plane, installed, tmp_path)
    assert re.fullmatch(
        r"Reports: [1-9]\d* created, \d+ updated, \d+ unchanged, \d+ deleted\.", run_cron_job(kubeconfig)
    )
    (found,) = stored(plane, namespace)
    assert [each["name"] for each in found["metadata"]["ownerReferences"]] == [REPORTER]
    assert re.fullmatch(r"Reports: 0 created, 0 updated, \d+ unchanged, 0 deleted\.", run_cron_job(kubeconfig))

    cluster = Cluster.connect(kubeconfig=kubeconfig)
    with pytest.raises(Forbidden, match=f"^ServiceAccount {installed}/{SCANNER} may not list secrets"):
        cluster.get("/api/v1/secrets")
    with pytest.raises(Forbidden, match="may not patch namespaces"):
        cluster.patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": {"a": "b"}}})

    plane.client().delete(f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{REPORTER}").expect(200)
    # The garbage collector looks for new kinds every 30 s.
    plane.wait_for(lambda: not stored(plane, namespace), timeout=90, message="the report taken away with its owner")


def test_without_the_right_there_is_one_clear_message(plane: ControlPlane, reports: None) -> None:
    cluster = Cluster.connect(kubeconfig=str(plane.kubeconfig_for("reader-only")))
    said = r'^user "reader-only" may not list reports\.openreports\.io in the whole cluster: a ClusterRole with'
    with pytest.raises(Forbidden, match=said):
        write_reports(cluster, snapshot_of("default"))
