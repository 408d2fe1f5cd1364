"""`gpugate keeper` as a process: health, metrics, missing rights, an API server that is away, and its end."""

import re
import subprocess
import sys
from pathlib import Path

from app.cluster.keeper.log import Metrics
from app.cluster.keeper.servers import addresses
from tests.controlplane import wait_for
from tests.support.apiproxy import Fault, api_proxy
from tests.support.keeper import KeeperProcess, Site, policy


def test_health_metrics_and_the_end(site: Site) -> None:
    with KeeperProcess(site) as keeper:
        wait_for(lambda: site.certificate, message="the certificate")
        assert keeper.get("/healthz").json() == {"status": "ok"}
        text = keeper.get("/metrics").text
        assert 'gpugate_keeper_certificates_total{certificate="authority"} 1.0' in text
        assert 'gpugate_keeper_errors_total{part="policy"} 0.0' in text
        assert keeper.get("/nowhere").status_code == 404
        assert keeper.stop() == 0
        assert keeper.logs()[-1]["event"] == "stopped"
        assert keeper.errors() == ""


def test_the_page_explains_each_metric() -> None:
    page = Path("docs/keeper.md").read_text()
    families = list(Metrics().registry.collect())
    assert len(families) > 10
    for family in families:
        name = f"{family.name}_total" if family.type == "counter" else family.name
        assert re.search(rf"^\| `{name}(\{{\w+\}})?` \|", page, re.MULTILINE), name


def test_a_missing_right_is_one_message_with_the_rule_and_the_others_go_on(site: Site) -> None:
    role = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{site.namespace}/roles/gpugate-keeper"
    found = site.api.get(role).expect(200)
    rules = [rule for rule in found["rules"] if "secrets" not in rule["resources"]]
    site.api.put(role, {**found, "rules": rules}).expect(200)
    site.write_policy(policy(site.team))

    def refused() -> bool:
        # The authorizer hears of a changed role a moment later.
        path = f"/api/v1/namespaces/{site.namespace}/secrets"
        command = ["auth", "can-i", "create", path.rpartition("/")[2], "-n", site.namespace]
        return site.plane.kubectl(*command, kubeconfig=site.kubeconfig, check=False).returncode != 0

    wait_for(refused, message="the right taken away")
    keeper = site.keeper()
    for _ in range(3):
        assert keeper.step() is False
    (said,) = keeper.events.of("certificates_stopped")
    assert said["kind"] == "Forbidden"
    assert f"ServiceAccount {site.namespace}/gpugate-keeper may not get secrets" in said["reason"]
    assert 'a Role with {apiGroups: [""], resources: ["secrets"], verbs: ["get"]}' in said["reason"]
    assert keeper.metric("gpugate_keeper_errors_total", part="certificates") == 3
    assert site.served, "the policy is handed on without"
    assert site.facts["version"] == 1
    site.api.put(role, {**site.api.get(role).expect(200), "rules": found["rules"]}).expect(200)
    keeper.until(lambda: keeper.events.of("certificates_goes_on"), "the right given back")
    assert site.certificate


def test_an_api_server_that_is_away_is_waited_for(site: Site, tmp_path: Path) -> None:
    with api_proxy(site.plane) as proxy:
        keeper = site.keeper(kubeconfig=proxy.kubeconfig(tmp_path))
        proxy.faults = [Fault(403, times=1000)]
        assert keeper.step() is False
        assert site.certificate is None
        stopped = keeper.events.of("certificates_stopped")
        assert len(stopped) == 1
        proxy.faults = []
        assert keeper.step() is True
    assert site.certificate
    assert keeper.events.of("certificates_goes_on")


def test_without_a_cluster_it_says_so_and_looks_less_often(site: Site, tmp_path: Path) -> None:
    with api_proxy(site.plane) as proxy:
        gone = proxy.kubeconfig(tmp_path)
    command = [sys.executable, "-P", "-m", "app.cli", "keeper", "--url", site.url, "--namespace", site.namespace]
    command += ["--host", "127.0.0.1", "--metrics-port", "0", "--kubeconfig", str(gone)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            for line in process.stdout:
                if "certificates_stopped" in line:
                    assert "cannot be reached" in line
                    break
        finally:
            process.terminate()
        assert process.wait(30) == 0


def test_servers_are_those_of_the_service_that_serve() -> None:
    def endpoint(address: str, **conditions: bool) -> dict[str, object]:
        return {"addresses": [address], "conditions": conditions}

    ports = [{"name": "metrics", "port": 8080}, {"name": "webhook", "port": 10250}]
    endpoints = [
        endpoint("10.0.0.1", ready=True, serving=True),
        endpoint("10.0.0.2", ready=False, serving=False),
        endpoint("10.0.0.3", ready=False, serving=True, terminating=True),
        endpoint("10.0.0.4"),
    ]
    found = list(addresses({"ports": ports, "endpoints": endpoints}))
    assert found == [("10.0.0.1", 10250), ("10.0.0.3", 10250), ("10.0.0.4", 10250)]
    assert list(addresses({"ports": [{"name": "", "port": 443}], "endpoints": endpoints[:1]})) == [("10.0.0.1", 443)]
    assert list(addresses({"ports": None, "endpoints": None})) == []
