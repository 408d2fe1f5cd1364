"""A server that starts before there is anything to serve with."""

import signal
from datetime import UTC, datetime
from pathlib import Path

from app.certs import make_authority
from tests.controlplane import wait_for
from tests.server.samples import POLICY, review
from tests.server.test_reload import MISSPELT, facts, files, leaf, notes, refuses
from tests.support.mounted import Mounted
from tests.support.server import Server


def reasons(server: Server) -> list[str]:
    ready = server.get("/readyz", metrics_port=True)
    assert ready.status == 503
    assert ready.json["ready"] is False
    found: list[str] = ready.json["reasons"]
    return found


def test_it_waits_for_a_policy_and_a_certificate(tmp_path: Path) -> None:
    authority = make_authority(datetime.now(UTC))
    expired = leaf(authority, now=datetime(2020, 1, 1, tzinfo=UTC))
    policy = Mounted(tmp_path / "policy", {})
    certificates = Mounted(tmp_path / "certs", files(authority, expired))
    cluster = tmp_path / "facts.json"
    cluster.write_text("{")
    with Server(policy.folder, cert_dir=certificates.folder, cluster_facts=cluster, waits=True) as server:
        assert server.get("/healthz", metrics_port=True).status == 200
        missing, bad = reasons(server)
        assert missing.startswith(f"policy: {policy.folder}:1:1: the folder holds no .yaml")
        assert bad == "certificate: the certificate expired on 2020-01-08 00:00 UTC"
        assert server.metric("gpugate_policy_reload_failures_total") == 1
        assert server.metric("gpugate_certificate_reload_failures_total") == 1
        assert server.metric("gpugate_policy_last_reload_successful") == 0
        assert server.wait_for_log("policy_refused")["in_force"] is None

        policy.write({"policy.yaml": MISSPELT})
        wait_for(lambda: "no-privilege" in reasons(server)[0])
        policy.write({"policy.yaml": POLICY})
        wait_for(lambda: len(reasons(server)) == 1)
        certificates.write(files(authority, leaf(authority)))
        server.wait_until_listening()
        assert refuses(server)
        assert "cluster facts: unreadable" in notes(server)[0]
        assert server.metric("gpugate_policy_reload_failures_total") == 2
        assert server.metric("gpugate_policy_last_reload_successful") == 1
        cluster.write_text(facts("nvidia"))
        wait_for(lambda: notes(server) == [])


def test_a_signal_ends_the_wait(tmp_path: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        with Server(tmp_path, cert_dir=tmp_path, waits=True) as server:
            assert server.stop(number) == 0
            assert server.logs()[-1]["event"] == "stopped"


def test_nothing_to_wait_for() -> None:
    with Server(extra=["--wait"]) as server:
        assert server.logs("waiting") == []
        assert server.post("/mutate/enforce", review()).status == 200
