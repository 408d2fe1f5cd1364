"""The entries about workloads and namespaces: who is asked, for which kinds, and what an outage means."""

from typing import Any

import pytest

from app.manifests.advisory import Advisory, advisory
from app.policy.compiled import Policy
from tests.manifests.policies import FENCE, GPU_RULE, SELECT, policy

ROCKET = {"resource": "rockets.example.com", "kind": "Rocket", "paths": ["/spec/template/spec"]}
WHOLE = "object.?spec != oldObject.?spec"
CORE = {
    "": ["podtemplates", "replicationcontrollers"],
    "apps": ["daemonsets", "deployments", "replicasets", "statefulsets"],
    "batch": ["cronjobs", "jobs"],
}


def named(made: Policy) -> dict[str, Advisory]:
    return {entry.name: entry for entry in advisory(made)}


def resources(entry: Advisory, operation: str) -> dict[str, list[str]]:
    return {
        rule["apiGroups"][0]: rule["resources"]
        for rule in entry.webhook({})["rules"]
        if operation in rule["operations"]
    }


def test_core_kinds_are_advised_on_in_every_mode() -> None:
    found = named(policy(rules=[GPU_RULE], modes={"namespaces": {"a": "enforce"}}))
    modes = ["audit", "warn", "assist", "enforce-pinned", "enforce"]
    assert list(found) == [*(f"advise-{mode}" for mode in modes), "namespace"]
    for mode in modes:
        entry = found[f"advise-{mode}"]
        assert entry.endpoint == f"advise/{mode.partition('-')[0]}"
        assert resources(entry, "CREATE") == resources(entry, "UPDATE") == CORE
        webhook = entry.webhook({})
        assert webhook["failurePolicy"] == "Ignore"
        assert webhook["timeoutSeconds"] == 1


def test_only_the_creation_of_refused_kinds_in_enforce_fails_closed() -> None:
    workloads = {"kinds": [ROCKET], "refuse": ["jobs.batch", "pytorchjobs.kubeflow.org"]}
    found = named(policy(rules=[GPU_RULE], workloads=workloads))
    assert {name for name, entry in found.items() if entry.strict} == {"advise-enforce-refused"}
    refused = found["advise-enforce-refused"]
    gang = {"batch": ["jobs"], "kubeflow.org": ["pytorchjobs"]}
    assert resources(refused, "CREATE") == gang
    assert resources(refused, "UPDATE") == {}
    assert refused.webhook({})["failurePolicy"] == "Fail"
    others = found["advise-enforce"]
    assert resources(others, "CREATE") == {**CORE, "batch": ["cronjobs"], "example.com": ["rockets"]}
    whole = {**CORE, "example.com": ["rockets"], "kubeflow.org": ["pytorchjobs"]}
    updated: dict[str, set[str]] = {}
    for rule in others.webhook({})["rules"]:
        if "UPDATE" in rule["operations"]:
            updated.setdefault(rule["apiGroups"][0], set()).update(rule["resources"])
    assert updated == {group: set(names) for group, names in whole.items()}
    assert resources(found["advise-warn"], "CREATE") == whole


@pytest.mark.parametrize(
    ("spec", "has", "lacks"),
    [
        ({"rules": [GPU_RULE]}, "resources.limits", "tolerations"),
        ({"rules": [FENCE]}, "tolerations", "rockets"),
        ({"inject": [SELECT]}, "resources.requests", "tolerations"),
        (
            {"rules": [GPU_RULE]},
            "object.?spec.?template != oldObject.?spec.?template",
            "object.?spec != oldObject.?spec",
        ),
        ({"rules": [GPU_RULE], "workloads": {"kinds": [ROCKET]}}, "object.?spec != oldObject.?spec", "tolerations"),
    ],
)
def test_what_the_conditions_ask_for(spec: dict[str, Any], has: str, lacks: str) -> None:
    (_, condition) = named(policy(**spec))["advise-audit"].condition
    assert has in condition
    assert lacks not in condition


def test_a_policy_that_says_nothing_of_pods_gives_no_advice() -> None:
    assert list(named(policy())) == ["namespace"]
    assert "advise-audit" in [entry.name for entry in advisory(policy(), "broad")]


def test_namespaces_fail_open() -> None:
    webhook = named(policy())["namespace"].webhook({})
    assert webhook["failurePolicy"] == "Ignore"
    assert webhook["rules"][0]["resources"] == ["namespaces"]
    assert webhook["rules"][0]["scope"] == "Cluster"
