"""The API server goes away for a while, and comes back."""

from collections.abc import Iterator

import pytest

from tests.controlplane import wait_for
from tests.support.balancer import Balancer
from tests.support.cluster import gpu_pod
from tests.support.keeper import KeeperProcess, Site, policy


@pytest.fixture
def way(site: Site) -> Iterator[Balancer]:
    """The keeper's way to the API server."""
    with Balancer([int(site.plane.url.rpartition(":")[2])]) as balancer:
        yield balancer


def test_an_outage_is_survived(site: Site, way: Balancer) -> None:
    api = way.ports
    site.write_policy(policy(site.team))
    with KeeperProcess(site, kubeconfig=site.kubeconfig_to(way.url, "way.kubeconfig")) as keeper, site.server():
        wait_for(site.entries, message="the configurations")
        refused = gpu_pod(schedulerName="none")
        refused["spec"]["containers"][0]["securityContext"] = {"privileged": True}
        path = f"/api/v1/namespaces/{site.team}/pods?dryRun=All"
        wait_for(lambda: site.api.post(path, refused).status == 403, message="the API server to call")
        way.cut()
        # Whichever part comes first, each is told of.
        (said, *_) = keeper.wait_for_log("policy_stopped")
        assert (said["level"], said["kind"]) == ("error", "Unreachable")
        assert f"cannot be reached at {way.url}: " in said["reason"]
        assert keeper.get("/healthz").status_code == 200, "no reason to be restarted"
        assert 'gpugate_keeper_errors_total{part="policy"} 0.0' not in keeper.get("/metrics").text
        wide = policy(site.team, presets=["nvidia", "amd"])
        site.write_policy(wide)
        assert site.api.post(path, refused).status == 403, "the servers need no keeper"
        way.ports = api
        keeper.wait_for_log("policy_goes_on")
        keeper.wait_for_log("policy_in_force")
        assert site.served == {"policy.yaml": wide.encode()}
        assert not keeper.logs("failed")
        assert len(keeper.logs("authority_made")) == 1
        assert keeper.stop() == 0
        assert keeper.logs("stopped")
        assert keeper.errors() == ""
