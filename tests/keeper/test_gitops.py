"""Where somebody else writes the webhook configurations: what is not as it should be is said, and left as it is."""

from base64 import b64encode
from typing import Any

from app.certs.rotation import holds
from app.manifests.client import Url
from app.manifests.keeper_names import AUTHORITY_SECRET, ROTATE_ANNOTATION
from app.manifests.objects import configurations
from app.manifests.parts import Scope
from app.policy.load import load
from tests.support.cluster import KINDS
from tests.support.keeper import Driven, Site, policy

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
VALIDATING = "ValidatingWebhookConfiguration"


def apply(site: Site, content: str, scope: Scope = "tight") -> None:
    """What a GitOps tool does with the output of `gpugate manifests`: everything but the CA bundle."""
    made = load([("policy.yaml", content.encode())])
    for each in configurations(made, Url(site.url), scope):
        each["metadata"]["name"] = site.name
        path = f"{ADMISSION}/{KINDS[each['kind']]}"
        found = site.api.get(f"{path}/{site.name}")
        if found.status == 404:
            site.api.post(path, each).expect(201)
            continue
        bundle = b64encode(next(iter(site.bundles()))).decode()
        for entry in each.get("webhooks") or []:
            entry["clientConfig"]["caBundle"] = bundle
        each["metadata"]["resourceVersion"] = found.body["metadata"]["resourceVersion"]
        site.api.put(f"{path}/{site.name}", each).expect(200)


def drift(keeper: Driven) -> float | None:
    return keeper.metric("gpugate_keeper_configuration_drift", configuration=VALIDATING)


def entries(site: Site) -> list[Any]:
    return [{**each, "clientConfig": None} for each in site.entries()]


def test_only_the_bundle_is_written_and_drift_is_told(site: Site) -> None:
    content = policy(site.team)
    site.write_policy(content)
    keeper = site.keeper(gitops=True)
    for _ in range(2):
        keeper.step()
    assert site.configurations() == []
    assert drift(keeper) == 1
    assert keeper.events.of(f"drift_of_{VALIDATING}")[-1]["changes"] == ["it does not exist"]
    apply(site, content)
    keeper.until(lambda: site.bundles() == {(site.authority or {})["ca.crt"]}, "the authority trusted")
    keeper.until(lambda: drift(keeper) == 0, "the drift gone")
    path = f"{ADMISSION}/validatingwebhookconfigurations/{site.name}"
    changed = [{**each, "failurePolicy": "Ignore"} for each in site.configurations()[1]["webhooks"]]
    site.api.patch(path, {"webhooks": changed}).expect(200)
    before = entries(site)
    for _ in range(3):
        keeper.step()
    assert entries(site) == before
    assert drift(keeper) == 1
    assert len(keeper.events.of(f"drift_of_{VALIDATING}")) == 2, "once, until it changes"


def test_a_policy_waits_for_configurations_that_are_made_for_it(site: Site) -> None:
    narrow, wide = policy(site.team), policy(site.team, presets=["nvidia", "amd"])
    site.write_policy(narrow)
    keeper = site.keeper(gitops=True)
    keeper.step()
    apply(site, narrow)
    keeper.until(lambda: drift(keeper) == 0, "configurations in step")
    site.write_policy(wide)
    for _ in range(5):
        keeper.step()
    assert site.served == {"policy.yaml": narrow.encode()}
    assert keeper.metric("gpugate_keeper_policy_pending") == 1
    assert len(keeper.events.of("configurations_behind")) == 1
    apply(site, wide)
    keeper.until(lambda: site.served == {"policy.yaml": wide.encode()}, "the policy handed on")


def test_the_configurations_of_every_policy_are_no_drift(site: Site) -> None:
    """Those of `--scope broad`."""
    content = policy(site.team)
    site.write_policy(content)
    apply(site, content, "broad")
    keeper = site.keeper(gitops=True)
    keeper.step()
    assert keeper.step()
    assert drift(keeper) == 0
    assert not keeper.events.of(f"drift_of_{VALIDATING}")


def test_a_rotation_goes_through(site: Site) -> None:
    content = policy(site.team)
    site.write_policy(content)
    apply(site, content)
    keeper = site.keeper(gitops=True)
    keeper.step()
    old, before = (site.authority or {})["ca.crt"], entries(site)
    with site.server():
        patch = {"metadata": {"annotations": {ROTATE_ANNOTATION: "now"}}}
        site.api.patch(site.path("secrets", AUTHORITY_SECRET), patch).expect(200)
        keeper.until(lambda: keeper.events.of("authority_dropped"), "the old authority dropped")
        new = (site.authority or {})["ca.crt"]
        keeper.until(lambda: site.bundles() == {new}, "the new authority alone")
    assert not holds(new, old)
    assert entries(site) == before
