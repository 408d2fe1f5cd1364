"""`match` and `exclude`."""

from typing import Any

import pytest

from app.kyverno.kinds import KindSelector, parse
from app.kyverno.policy import compile_policy
from app.kyverno.types import Request
from tests.kyverno.judging import applied, pod, policy

DENY: dict[str, Any] = {"deny": {}}


def selected(match: dict[str, Any], resource: dict[str, Any] | None = None, **request: Any) -> bool:
    """Whether a rule with this match has anything to say of the resource (a pod)."""
    resource = resource or pod(labels={"app": "web"}, annotations={"owner": "ml"})
    rule = {"name": "rule", "validate": DENY, "match": {"any": [{"resources": {"kinds": ["*"]}}]}, **match}
    return bool(applied(compile_policy(_policy(rule)), resource, **request).results)


def _policy(rule: dict[str, Any]) -> dict[str, Any]:
    document = policy()
    document["spec"]["rules"] = [rule]
    return document


def filters(**resources: Any) -> dict[str, Any]:
    return {"match": {"any": [{"resources": {"kinds": ["Pod"], **resources}}]}}


@pytest.mark.parametrize(
    ("resources", "selects"),
    [
        ({}, True),
        ({"kinds": ["v1/Pod"]}, True),
        ({"kinds": ["v2/Pod"]}, False),
        ({"kinds": ["apps/v1/Deployment", "Po?"]}, True),
        ({"kinds": ["Deployment"]}, False),
        ({"names": ["we*", "x"]}, True),
        ({"names": ["x"]}, False),
        ({"name": "web"}, True),
        ({"namespaces": ["team-*"]}, True),
        ({"namespaces": ["kube-system"]}, False),
        ({"annotations": {"own*": "m?"}}, True),
        ({"annotations": {"owner": "x"}}, False),
        ({"selector": {"matchLabels": {"app": "web"}}}, True),
        ({"selector": {"matchLabels": {"a*": "w*"}}}, True),
        ({"selector": {"matchLabels": {"app": "x"}}}, False),
        ({"selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}}, True),
        ({"selector": {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}}, False),
        ({"selector": {"matchExpressions": [{"key": "no", "operator": "NotIn", "values": ["web"]}]}}, True),
        ({"selector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}, True),
        ({"selector": {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}}, False),
        ({"operations": ["CREATE"]}, True),
        ({"operations": ["UPDATE"]}, False),
        ({"names": ["web"], "namespaces": ["other"]}, False),  # in a filter all must hold
    ],
)
def test_filters(resources: dict[str, Any], selects: bool) -> None:
    assert selected(filters(**resources)) is selects


def test_any_and_all() -> None:
    here, there = ({"resources": {"kinds": ["Pod"], "namespaces": [name]}} for name in ("team-a", "team-b"))
    named = {"resources": {"names": ["web"]}}
    assert selected({"match": {"any": [there, here]}})
    assert not selected({"match": {"all": [there, here]}})
    assert selected({"match": {"all": [named, here]}})
    assert selected({"match": here})  # the form before any and all


def test_exclude() -> None:
    here, there = ({"resources": {"namespaces": [name]}} for name in ("team-a", "team-b"))
    assert not selected({"exclude": {"any": [there, here]}})
    assert selected({"exclude": {"all": [there, here]}})
    assert not selected({"exclude": {"all": [here, {"resources": {"names": ["web"]}}]}})
    assert not selected({"exclude": here})
    assert selected({"exclude": {"any": [{"resources": {}}]}})  # an empty filter excludes nothing


def test_labels_of_the_namespace() -> None:
    match = filters(namespaceSelector={"matchLabels": {"tier": "gpu"}})
    assert selected(match, namespace_labels={"tier": "gpu"})
    assert not selected(match, namespace_labels={"tier": "cpu"})
    assert not selected(match)


USER = {"userInfo": {"username": "jane", "groups": ["ml", "system:authenticated"]}, "clusterRoles": ["admin"]}
ACCOUNT = {"userInfo": {"username": "system:serviceaccount:ci:deployer"}}


@pytest.mark.parametrize(
    ("who", "request_of", "selects"),
    [
        ({"subjects": [{"kind": "User", "name": "jane"}]}, USER, True),
        ({"subjects": [{"kind": "User", "name": "j*"}]}, USER, True),
        ({"subjects": [{"kind": "User", "name": "joe"}]}, USER, False),
        ({"subjects": [{"kind": "Group", "name": "ml"}]}, USER, True),
        ({"subjects": [{"kind": "ServiceAccount", "name": "deployer", "namespace": "ci"}]}, ACCOUNT, True),
        ({"subjects": [{"kind": "ServiceAccount", "name": "deployer", "namespace": "cd"}]}, ACCOUNT, False),
        ({"clusterRoles": ["admin"]}, USER, True),
        ({"clusterRoles": ["edit"]}, USER, False),
        ({"roles": ["ns:admin"]}, USER, False),
        ({"subjects": [{"kind": "User", "name": "jane"}], "clusterRoles": ["edit"]}, USER, False),
        ({"subjects": [{"kind": "User", "name": "joe"}]}, {}, True),  # nobody knows who asks
    ],
)
def test_who_asks(who: dict[str, Any], request_of: dict[str, Any], selects: bool) -> None:
    assert selected({"match": {"any": [{"resources": {"kinds": ["Pod"]}, **who}]}}, attributes=request_of) is selects


def test_whoever_is_not_known_is_not_excluded() -> None:
    assert selected({"exclude": {"any": [{"subjects": [{"kind": "User", "name": "jane"}]}]}})
    assert not selected({"exclude": {"any": [{"subjects": [{"kind": "User", "name": "jane"}]}]}}, attributes=USER)


def test_a_policy_of_a_namespace_is_for_that_alone() -> None:
    document = policy({"name": "rule", "validate": DENY})
    document |= {"kind": "Policy", "metadata": {"name": "a", "namespace": "team-b"}}
    assert not applied(compile_policy(document), pod()).results
    document["metadata"]["namespace"] = "team-a"
    assert applied(compile_policy(document), pod()).results


def test_a_name_that_is_still_to_be_made_is_matched_by_its_beginning() -> None:
    generated = pod(generateName="train-")
    del generated["metadata"]["name"]
    assert selected(filters(names=["train-*"]), generated)


def test_ephemeral_containers_are_of_pods() -> None:
    assert selected(filters(), subresource="ephemeralcontainers")
    assert not selected(filters(kinds=["Pod/exec"]))
    assert selected(filters(kinds=["Pod/exec"]), subresource="exec")


@pytest.mark.parametrize(
    ("text", "selector"),
    [
        ("Pod", ("*", "*", "Pod", "")),
        ("v1/Pod", ("*", "v1", "Pod", "")),
        ("apps/v1/Deployment", ("apps", "v1", "Deployment", "")),
        ("*/Deployment", ("*", "*", "Deployment", "")),
        ("Pod/exec", ("*", "*", "Pod", "exec")),
        ("Pod.status", ("*", "*", "Pod", "status")),
        ("v1/Pod/status", ("*", "v1", "Pod", "status")),
        ("apps/v1/Deployment/scale", ("apps", "v1", "Deployment", "scale")),
        ("*", ("*", "*", "*", "")),
        ("*/*", ("*", "*", "*", "*")),
    ],
)
def test_kinds(text: str, selector: tuple[str, ...]) -> None:
    assert parse(text) == KindSelector(*selector)


@pytest.mark.parametrize("text", ["", "a//b", "a/b/c/d/e", "/Pod"])
def test_what_is_no_kind(text: str) -> None:
    assert parse(text) is None


def test_a_request_without_object_is_matched_by_what_is_deleted() -> None:
    assert Request(None, pod()).subject == pod()
