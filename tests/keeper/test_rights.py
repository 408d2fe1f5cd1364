"""A keeper that lacks a right: one message that says which, and everything else goes on."""

from collections.abc import Callable
from functools import partial

import pytest

from app.manifests.client import Service
from tests.controlplane import wait_for
from tests.support.keeper import Site, policy

OPTIONAL = {
    "facts_without_runtimeclasses": ("list", "runtimeclasses.node.k8s.io"),
    "facts_without_deviceclasses": ("list", "deviceclasses.resource.k8s.io"),
    "facts_without_resourceclaimtemplates": ("list", "resourceclaimtemplates.resource.k8s.io"),
    "facts_without_namespaces": ("list", "pods"),
    "no_event": ("create", "events"),
}


def refused(site: Site, path: str, verb: str = "get") -> bool:
    """Whether the API server knows by now that the keeper may not do this."""
    group, _, resource = path.rpartition("/")
    attributes = {"namespace": site.namespace, "verb": verb, "group": group, "resource": resource}
    spec = {"user": f"system:serviceaccount:{site.namespace}:gpugate-keeper", "resourceAttributes": attributes}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    answer = site.api.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", review).expect(201)
    return not answer["status"]["allowed"]


def test_what_is_optional_is_left_out_and_said_once(site: Site) -> None:
    site.withdraw("runtimeclasses", "deviceclasses", "resourceclaimtemplates", "pods", "events")
    for path in ("node.k8s.io/runtimeclasses", "resource.k8s.io/deviceclasses", "/pods"):
        wait_for(partial(refused, site, path, "list"), message="the rights withdrawn")
    wait_for(lambda: refused(site, "/events", "create"), message="the rights withdrawn")
    site.write_policy(policy(site.team))
    elapsed = [0.0]
    keeper = site.keeper(clock=lambda: elapsed[0])
    assert keeper.step()
    site.write_policy("nonsense: true")
    for _ in range(3):
        elapsed[0] += 300
        assert keeper.step()
    for event, (verb, resource) in OPTIONAL.items():
        (said,) = keeper.events.of(event)
        assert said["level"] == "warning"
        assert said["reason"].startswith(
            f"ServiceAccount {site.namespace}/gpugate-keeper may not {verb} {resource} in "
        ), said
        name, _, group = resource.partition(".")
        assert f'{{apiGroups: ["{group}"], resources: ["{name}"], verbs: ["{verb}"]}}' in said["reason"]
    assert {"version", "collectedAt"} == set(site.facts), "unknown is not none"
    assert site.certificate
    assert site.served


def test_without_the_list_of_servers_a_change_takes_its_longest_time(site: Site) -> None:
    """Who the servers are is known from the Service's slices."""
    site.withdraw("endpointslices")
    wait_for(lambda: refused(site, "discovery.k8s.io/endpointslices", "list"), message="the right withdrawn")
    site.write_policy(policy(site.team))
    keeper = site.keeper(client=Service(site.namespace, "gpugate"), handover=1.0)
    keeper.step()
    assert site.entries() == []
    keeper.until(site.entries, "the configurations, in the end")
    (said,) = keeper.events.of("servers_unknown")
    assert "may not list endpointslices.discovery.k8s.io in namespace" in said["reason"]


@pytest.mark.parametrize(
    ("resource", "part", "message"),
    [
        ("secrets", "certificates", 'may not get secrets "gpugate-ca" in namespace'),
        ("configmaps", "policy", 'may not get configmaps "gpugate-policy-source" in namespace'),
        (
            "validatingwebhookconfigurations",
            "policy",
            "may not get validatingwebhookconfigurations.admissionregistration.k8s.io",
        ),
    ],
)
def test_what_is_needed_is_said_once_until_it_is_granted(site: Site, resource: str, part: str, message: str) -> None:
    give_back = site.withdraw(resource)
    site.write_policy(policy(site.team))
    keeper = site.keeper(handover=0.1)
    keeper.until(lambda: keeper.events.of(f"{part}_stopped"), "the missing right to be noticed")
    for _ in range(3):
        assert not keeper.step()
    (said,) = keeper.events.of(f"{part}_stopped")
    assert (said["level"], said["kind"]) == ("error", "Forbidden")
    assert said["reason"].startswith(f"ServiceAccount {site.namespace}/gpugate-keeper {message}")
    assert "grant this" in said["reason"]
    assert (keeper.metric("gpugate_keeper_errors_total", part=part) or 0) >= 4
    give_back()
    keeper.until(lambda: keeper.events.of(f"{part}_goes_on"), "the keeper to go on")
    keeper.until(site.entries, "the configurations")
    assert site.certificate
    assert site.facts


def test_a_configuration_that_it_may_not_make_is_asked_for(make_site: Callable[..., Site]) -> None:
    """As during an uninstallation, which begins with the configurations."""
    site = make_site(create=False)
    site.write_policy(policy(site.team))
    keeper = site.keeper(handover=0.1)
    keeper.until(site.entries, "the configurations")
    site.api.delete(f"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/{site.name}").expect(200)
    for _ in range(3):
        assert not keeper.step()
    (said,) = keeper.events.of("policy_stopped")
    assert "may not create mutatingwebhookconfigurations" in said["reason"]


def test_what_the_configurations_trust_stays_where_the_keeper_cannot_read_it(site: Site) -> None:
    site.write_policy(policy(site.team))
    before = site.keeper(handover=0.1)
    before.until(site.entries, "the configurations")
    trusted = site.bundles()
    assert trusted == {(site.authority or {})["ca.crt"]}
    site.withdraw("secrets")
    wait_for(lambda: refused(site, "/secrets"), message="the right withdrawn")
    wide = policy(site.team, presets=["nvidia", "amd"])
    site.write_policy(wide)
    keeper = site.keeper(handover=0.1)
    entries = site.entries()
    keeper.until(lambda: site.served == {"policy.yaml": wide.encode()}, "the policy handed on")
    assert site.entries() != entries
    assert site.bundles() == trusted
