"""The rights of the scan, and the CronJob that uses them."""

from typing import Any

import pytest

from app.manifests.client import Service
from app.manifests.install.objects import install, uninstall
from app.manifests.install.settings import Installation
from app.manifests.scan_rbac import REPORTER, SCANNER, scan_rbac
from app.sources.policies import read_policy
from app.workloads.custom import CUSTOM_KINDS
from app.workloads.kinds import CORE_KINDS

SERVICE = Service("gpugate", "gpugate")


def roles(*added: str) -> dict[str, list[dict[str, Any]]]:
    return {
        each["metadata"]["name"]: each["rules"] for each in scan_rbac("gpugate", added) if each["kind"] == "ClusterRole"
    }


def granted(verb: str, role: str = SCANNER) -> set[tuple[str, str]]:
    return {
        (group, resource)
        for rule in roles()[role]
        if verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


def test_reading_is_listing_what_holds_pods_and_little_else() -> None:
    assert {verb for rule in roles()[SCANNER] for verb in rule["verbs"]} == {"get", "list"}
    assert granted("get") == {("", "namespaces")}
    assert {group for group, _ in granted("list")} == {
        *(group for group, _ in (*CORE_KINDS, *CUSTOM_KINDS)), "node.k8s.io", "resource.k8s.io",
    }  # fmt: skip
    assert len(granted("list")) == len({*CORE_KINDS, *CUSTOM_KINDS}) + 3
    for rules in roles().values():
        assert not any("*" in (*rule["apiGroups"], *rule["resources"], *rule["verbs"]) for rule in rules)


@pytest.mark.parametrize(
    "resource",
    [
        ("", "pods"),
        ("", "podtemplates"),
        ("", "replicationcontrollers"),
        ("apps", "daemonsets"),
        ("batch", "cronjobs"),
        ("ray.io", "rayclusters"),
        ("kubeflow.org", "pytorchjobs"),
        ("serving.kserve.io", "inferenceservices"),
        ("apps.nvidia.com", "nimcaches"),
        ("grove.io", "podcliquesets"),
    ],
)
def test_resources_are_named_as_they_are_served(resource: tuple[str, str]) -> None:
    assert resource in granted("list")


def test_writing_is_reports_and_nothing_else() -> None:
    resources = {resource for rule in roles()[REPORTER] for resource in rule["resources"]}
    assert resources == {"reports", "policyreports", "clusterroles"}
    (own,) = (rule for rule in roles()[REPORTER] if rule["resources"] == ["clusterroles"])
    assert (own["verbs"], own["resourceNames"]) == (["get"], [REPORTER])


def test_what_the_policy_adds_may_be_read() -> None:
    rules = roles("trainings.example.com")[SCANNER]
    (rule,) = (rule for rule in rules if rule["apiGroups"] == ["example.com"])
    assert (rule["resources"], rule["verbs"]) == (["trainings"], ["list"])


def test_only_an_installation_with_reports_has_the_cron_job() -> None:
    policy = read_policy("shipped")
    plain, with_reports = (install(policy, Installation(SERVICE, reports=reports)) for reports in (False, True))
    names = {(each["kind"], each["metadata"]["name"]) for each in with_reports}
    assert names - {(each["kind"], each["metadata"]["name"]) for each in plain} == {
        (kind, SCANNER) for kind in ("ServiceAccount", "CronJob", "NetworkPolicy", "ClusterRole", "ClusterRoleBinding")
    } | {("ClusterRole", REPORTER), ("ClusterRoleBinding", REPORTER)}
    (job,) = (each for each in with_reports if each["kind"] == "CronJob")
    spec = job["spec"]
    assert spec["concurrencyPolicy"] == "Forbid"
    pod = spec["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["serviceAccountName"] == SCANNER
    assert pod["volumes"] == [{"name": "policy", "configMap": {"name": "gpugate-policy"}}]
    (container,) = pod["containers"]
    assert container["args"] == ["scan", "--policy=/etc/gpugate/policy", "--report", "--fail-on=none", "--quiet"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True


def test_uninstalling_takes_the_owner_of_the_reports_away() -> None:
    deleted = {(each["kind"], each["metadata"]["name"]) for each in uninstall(SERVICE)}
    assert {("ClusterRole", REPORTER), ("ClusterRole", SCANNER), ("ClusterRoleBinding", REPORTER)} <= deleted
