"""Policy, certificates and facts of a running server are followed; what is bad is told, and the last good one stays."""

import json
import signal
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from app.certs import Pair, issue, make_authority
from tests.controlplane import wait_for
from tests.server.samples import POLICY, privileged_pod, response, review
from tests.support.mounted import Mounted
from tests.support.server import Server

LENIENT = POLICY.replace("    - rule: no-privileged\n", "")
MISSPELT = POLICY.replace("no-privileged", "no-privilege")


def refuses(server: Server) -> bool:
    """Whether a privileged GPU pod is refused."""
    return not response(server.post("/validate/enforce", review(privileged_pod())))["allowed"]


def notes(server: Server) -> list[str]:
    """What the readiness of a server that is ready tells beside."""
    ready = server.get("/readyz")
    assert ready.status == 200
    found: list[str] = ready.json["notes"]
    return found


def digest(server: Server) -> Any:
    return server.get("/policy", metrics_port=True).json["digest"]


def test_a_policy_file_is_followed_and_the_last_good_one_stays(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY)
    with Server(policy) as server:
        first = digest(server)
        assert server.metric("gpugate_policy_last_reload_successful") == 1

        policy.write_text(MISSPELT)
        line = server.wait_for_log("policy_refused")
        assert line["level"] == "error"
        assert line["in_force"] == first
        assert str(policy) in line["problems"][0]
        assert server.metric("gpugate_policy_reload_failures_total") == 1
        assert server.metric("gpugate_policy_last_reload_successful") == 0
        (note,) = notes(server)
        assert note.startswith(f"policy: {policy}:")
        assert "no-privilege" in note
        assert note.endswith("; the last good one stays in use")
        assert digest(server) == first
        assert refuses(server)

        replacement = tmp_path / "new"
        replacement.write_text(LENIENT)
        replacement.rename(policy)
        assert server.wait_for_log("policy_loaded")["digest"] == digest(server) != first
        assert not refuses(server)
        assert notes(server) == []
        assert server.metric("gpugate_policy_last_reload_successful") == 1

        policy.unlink()
        wait_for(lambda: server.metric("gpugate_policy_reload_failures_total") == 2)
        assert notes(server) == [
            f"policy: {policy}:1:1: cannot be read: No such file or directory; the last good one stays in use"
        ]
        assert not refuses(server)
        policy.write_text(POLICY)
        wait_for(lambda: refuses(server))
        assert notes(server) == []


def test_a_mounted_policy_is_followed(tmp_path: Path) -> None:
    rules = "  rules:\n" + POLICY.partition("  rules:\n")[2]
    more = "apiVersion: gpugate.dev/v1alpha1\nkind: GpuPolicy\nmetadata: {name: more}\nspec:\n" + rules
    alone = POLICY.partition("  rules:\n")[0]
    mounted = Mounted(tmp_path / "policy", {"a.yaml": alone, "b.yaml": more})
    with Server(mounted.folder) as server:
        assert refuses(server)
        mounted.write({"a.yaml": alone})
        wait_for(lambda: not refuses(server))
        mounted.write({"a.yaml": alone, "c.yaml": more})
        wait_for(lambda: refuses(server))
        mounted.write({"README": ""})
        wait_for(lambda: notes(server))
        assert "the folder holds no .yaml" in notes(server)[0]
        assert refuses(server)


def test_sighup_reads_at_once_and_says_so_each_time(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY)
    with Server(policy) as server:
        for count in (1, 2):
            server.signal(signal.SIGHUP)
            wait_for(lambda count=count: len(server.logs("policy_loaded")) == count)  # type: ignore[misc]
        policy.write_text(MISSPELT)
        for count in (1, 2):
            server.signal(signal.SIGHUP)
            wait_for(lambda count=count: len(server.logs("policy_refused")) >= count)  # type: ignore[misc]


def test_a_wider_policy_than_the_configurations_are_for_is_told(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY)
    with Server(policy) as server:
        tight = server.get("/policy", metrics_port=True).json["scopes"]
        policy.write_text(POLICY.replace("presets: [nvidia]", "presets: [nvidia, amd]"))
        server.wait_for_log("policy_loaded")
        now = server.get("/policy", metrics_port=True).json["scopes"]
        (old,) = set(tight) - set(now)
        response(server.post(f"/validate/enforce/{old}", review()))
        assert server.metric("gpugate_scope_mismatch") == 1
        assert server.wait_for_log("scope_mismatch")["in_force"] == now
        assert notes(server) == [
            "scope: /validate/enforce called with the digest of another scope than the policy in force has"
        ]
        policy.write_text(POLICY)
        wait_for(lambda: notes(server) == [])
        assert server.metric("gpugate_scope_mismatch") == 0


def serial(server: Server) -> int:
    """The serial number of the certificate that a new connection gets."""
    with (
        socket.create_connection(("127.0.0.1", server.port)) as plain,
        server.tls().wrap_socket(plain, server_hostname="localhost") as connection,
    ):
        found = connection.getpeercert()
    assert found
    return int(str(found["serialNumber"]), 16)


def leaf(authority: Pair, *, now: datetime | None = None, days: int = 7) -> Pair:
    return issue(authority, ["localhost", "127.0.0.1"], now or datetime.now(UTC), lifetime=timedelta(days=days))


def files(authority: Pair, pair: Pair) -> dict[str, bytes]:
    return {"ca.crt": authority.certificate, "tls.crt": pair.certificate, "tls.key": pair.key}


@pytest.fixture(scope="module")
def authority() -> Pair:
    return make_authority(datetime.now(UTC))


def test_a_mounted_certificate_is_followed(tmp_path: Path, authority: Pair) -> None:
    mounted = Mounted(tmp_path / "certs", files(authority, leaf(authority)))
    with Server(cert_dir=mounted.folder) as server:
        kept = server.new_client()
        assert kept.get("/healthz").status_code == 200
        for days in (8, 9):
            before = serial(server)
            mounted.write(files(authority, leaf(authority, days=days)))
            wait_for(lambda before=before: serial(server) != before)  # type: ignore[misc]
            expiry = server.metric("gpugate_certificate_expiry_timestamp_seconds")
            assert abs(expiry - (datetime.now(UTC) + timedelta(days=days)).timestamp()) < 3600
        assert kept.get("/healthz").status_code == 200  # connections that were open stay open
        kept.close()
        assert server.logs("certificate_refused") == []


def test_a_bad_certificate_is_told_and_the_last_good_one_stays(tmp_path: Path, authority: Pair) -> None:
    mounted = Mounted(tmp_path / "certs", files(authority, leaf(authority)))
    expired = leaf(authority, now=datetime.now(UTC) - timedelta(days=9))
    new = leaf(authority)
    bad = {
        "expired on": files(authority, expired),
        "not that of the certificate": files(authority, Pair(new.certificate, expired.key)),
        "not PEM": files(authority, Pair(b"nothing", new.key)),
        "tls.key: No such file": {"ca.crt": authority.certificate, "tls.crt": new.certificate},
    }
    with Server(cert_dir=mounted.folder) as server:
        first = serial(server)
        for count, (reason, content) in enumerate(bad.items(), 1):
            mounted.write(content)
            server.wait_for_log("certificate_refused", lambda line, reason=reason: reason in line["reason"])  # type: ignore[misc]
            assert server.metric("gpugate_certificate_reload_failures_total") == count
            assert server.metric("gpugate_certificate_last_reload_successful") == 0
            (note,) = notes(server)
            assert note.startswith("certificate: ")
            assert reason in note
            assert serial(server) == first
        mounted.write(files(authority, new))
        wait_for(lambda: serial(server) != first)
        assert notes(server) == []
        assert server.metric("gpugate_certificate_last_reload_successful") == 1


def test_a_key_that_comes_after_its_certificate(tmp_path: Path, authority: Pair) -> None:
    folder = tmp_path / "certs"
    folder.mkdir()
    new = leaf(authority)
    for name, content in files(authority, leaf(authority)).items():
        (folder / name).write_bytes(content)
    with Server(cert_dir=folder) as server:
        first = serial(server)
        (folder / "tls.crt").write_bytes(new.certificate)
        server.wait_for_log("certificate_refused")
        (folder / "tls.key").write_bytes(new.key)
        wait_for(lambda: serial(server) != first)
        assert notes(server) == []
        assert len(server.logs("certificate_refused")) == 1


def facts(*names: str, age: timedelta = timedelta(0)) -> str:
    when = (datetime.now(UTC) - age).isoformat()
    return json.dumps({"version": 1, "collectedAt": when, "runtimeClasses": [{"name": name} for name in names]})


def sets_class(server: Server) -> bool:
    found = response(server.post("/mutate/enforce", review()))
    return "runtime-class" in found["auditAnnotations"]["changes"]


def test_cluster_facts_are_followed(tmp_path: Path) -> None:
    file = tmp_path / "facts.json"
    file.write_text(facts("other"))
    with Server(cluster_facts=file) as server:
        assert not sets_class(server)
        replacement = tmp_path / "new.json"
        replacement.write_text(facts("nvidia"))
        replacement.rename(file)
        wait_for(lambda: sets_class(server))
        file.write_text(facts("other"))
        wait_for(lambda: not sets_class(server))

        file.write_text("{")
        assert "unreadable" in server.wait_for_log("cluster_facts")["state"]
        assert not sets_class(server)  # the last good ones stay
        assert "cluster facts: unreadable" in notes(server)[0]
        assert server.metric("gpugate_cluster_facts_failures_total") == 1

        file.write_text(facts("other", age=timedelta(hours=1)))
        server.wait_for_log("cluster_facts", lambda line: line["state"] == "stale")
        assert sets_class(server)  # what is unknown is no reason to leave the class out
        file.unlink()
        server.wait_for_log("cluster_facts", lambda line: line["state"] == "absent")
        assert notes(server) == ["cluster facts: absent"]


def test_mounted_facts_that_come_later(tmp_path: Path) -> None:
    mounted = Mounted(tmp_path / "facts", {})
    with Server(cluster_facts=mounted.folder / "facts.json") as server:
        assert notes(server) == ["cluster facts: absent"]
        mounted.write({"facts.json": facts("nvidia")})
        server.wait_for_log("cluster_facts", lambda line: line["state"] == "fresh")
        assert notes(server) == []
        assert sets_class(server)
        mounted.write({"facts.json": facts("other")})
        wait_for(lambda: not sets_class(server))
