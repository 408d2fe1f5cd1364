"""What operators see: probes, metrics, policy, log, reloads, facts, the end."""

import json
import re
import signal
import socket
import ssl
import threading
import time
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from tests.server.samples import POLICY, gpu_pod, privileged_pod, response, review
from tests.support.server import Server


def test_probes_on_both_ports(server: Server) -> None:
    for metrics_port in (False, True):
        assert server.get("/healthz", metrics_port=metrics_port).json == {"status": "ok"}
        ready = server.get("/readyz", metrics_port=metrics_port)
        digest = server.get("/policy", metrics_port=True).json["digest"]
        assert (ready.status, ready.json) == (200, {"ready": True, "reasons": [], "notes": [], "policy": digest})


def test_each_port_has_its_own(server: Server) -> None:
    assert server.get("/metrics").status == 404
    assert server.get("/policy").status == 404
    answer = server.metrics_client.post("/mutate/enforce", json=review())
    assert answer.status_code == 404
    assert answer.json()["error"]


def test_metrics(server: Server) -> None:
    labels = {"endpoint": "mutate", "mode": "assist", "operation": "CREATE", "verdict": "changed", "dry_run": "false"}
    rule = {"policy": "gpu-pods", "rule": "limits-equal-requests"}
    seen = {**rule, "mode": "assist", "outcome": "repair"}

    def now() -> tuple[float, ...]:
        return (
            server.metric("gpugate_reviews_total", **labels),
            server.metric("gpugate_rule_results_total", **seen),
            server.metric("gpugate_changes_total", **rule),
            server.metric("gpugate_review_duration_seconds_count", endpoint="mutate"),
        )

    before = now()
    server.post("/mutate/assist", review())
    assert now() == tuple(value + 1 for value in before)
    assert server.metric("gpugate_build_info") == 1
    assert server.metric("gpugate_scope_mismatch") == 0
    assert abs(server.metric("gpugate_policy_loaded_timestamp_seconds") - time.time()) < 3600
    assert server.metric("gpugate_certificate_expiry_timestamp_seconds") > time.time() + 86400


def test_a_dry_run_is_marked_and_is_no_event(server: Server) -> None:
    dry = {"endpoint": "validate", "mode": "enforce", "verdict": "refused", "dry_run": "true"}
    rule = {"rule": "no-privileged", "mode": "enforce", "outcome": "deny"}
    before = server.metric("gpugate_reviews_total", **dry), server.metric("gpugate_rule_results_total", **rule)
    server.post("/validate/enforce", review(privileged_pod(), dryRun=True, uid="dry-1"))
    assert server.metric("gpugate_reviews_total", **dry) == before[0] + 1
    assert server.metric("gpugate_rule_results_total", **rule) == before[1]
    assert server.wait_for_log("decision", lambda line: line["uid"] == "dry-1")["dry_run"] is True


def test_changes_that_are_not_applied_are_not_counted_as_changes(server: Server) -> None:
    before = server.metric("gpugate_changes_total")
    server.post("/mutate/audit", review())
    assert server.metric("gpugate_changes_total") == before
    assert server.metric("gpugate_rule_results_total", mode="audit", outcome="repair") > 0


def test_the_log_line_of_a_decision(server: Server) -> None:
    pod = gpu_pod(hostname="secret-in-the-pod")
    pod["metadata"] = {"generateName": "train-"}
    server.post("/mutate/enforce", review(pod, uid="log-1"))
    line = server.wait_for_log("decision", lambda line: line["uid"] == "log-1")
    assert datetime.fromisoformat(line.pop("ts")) > datetime.now(UTC) - timedelta(minutes=5)
    assert 0 < line.pop("ms") < 1000
    assert line == {
        "event": "decision",
        "uid": "log-1",
        "user": "ada",
        "namespace": "team-a",
        "object": "train-",
        "operation": "CREATE",
        "phase": "mutate",
        "mode": "enforce",
        "verdict": "changed",
        "rules": ["limits-equal-requests", "runtime-class", "gpu-nodes"],
        "dry_run": False,
    }
    assert "secret-in-the-pod" not in json.dumps(server.logs())


def test_a_plain_allow_is_not_logged(server: Server) -> None:
    pod = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "web"}]}}
    server.post("/validate/enforce", review(pod, uid="plain-1"))
    server.post("/mutate/enforce", review(uid="after-plain-1"))
    server.wait_for_log("decision", lambda line: line["uid"] == "after-plain-1")
    assert all(line["uid"] != "plain-1" for line in server.logs("decision"))


def test_the_policy_in_force(server: Server) -> None:
    policy = server.get("/policy", metrics_port=True).json
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", policy["digest"])
    assert [document["name"] for document in policy["documents"]] == ["gpu-pods"]
    assert "limits-equal-requests" in policy["files"][0]["content"]
    assert datetime.fromisoformat(policy["loadedAt"]).tzinfo is not None


def test_a_configuration_of_another_scope(server: Server) -> None:
    scopes = server.get("/policy", metrics_port=True).json["scopes"]
    assert len(scopes) == 2
    for scope in scopes:
        response(server.post(f"/mutate/enforce/{scope}", review()))
        assert server.metric("gpugate_scope_mismatch") == 0
    response(server.post("/mutate/enforce/0ther", review()))
    assert server.metric("gpugate_scope_mismatch") == 1
    assert server.wait_for_log("scope_mismatch")["configured"] == "0ther"
    response(server.post(f"/mutate/enforce/{scopes[0]}", review()))
    assert server.metric("gpugate_scope_mismatch") == 0


def test_pinned_and_exempt_namespaces(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY)
    with Server(policy) as server:
        pinned = review(privileged_pod(), namespace="pinned")
        assert response(server.post("/validate/audit", pinned))["allowed"] is False
        quiet = review(privileged_pod(), namespace="quiet")
        assert response(server.post("/validate/enforce", quiet)) == {"uid": "6f3a", "allowed": True}
        exempt = response(server.post("/validate/enforce", review(privileged_pod(), namespace="kube-system")))
        assert exempt["auditAnnotations"]["exempt"] == "namespace"
        assert server.metric("gpugate_reviews_total", verdict="exempt") == 1


def test_sigterm_drains() -> None:
    with Server() as server:
        client = server.new_client()
        failures: list[Exception] = []
        answered, draining = threading.Event(), threading.Event()

        def call() -> None:
            try:
                while True:
                    answer = client.post("/mutate/enforce", json=review())
                    assert answer.json()["response"]["allowed"] is True
                    answered.set()
                    if answer.headers.get("connection") == "close":
                        draining.set()
                        return
            except Exception as error:  # noqa: BLE001 - shown below
                failures.append(error)

        caller = threading.Thread(target=call)
        caller.start()
        assert answered.wait(10)
        with server.new_client() as probe:
            assert probe.get("/readyz").status_code == 200
            server.signal(signal.SIGTERM)
            server.wait_for_log("stopping")
            ready = probe.get("/readyz")
            assert ready.status_code == 503
            assert ready.json()["reasons"] == ["draining: the server is about to stop"]
        caller.join(20)
        client.close()
        assert not failures
        assert draining.is_set()
        server.client.close()
        assert server.wait() == 0
        assert server.logs()[-1]["event"] == "stopped"


def test_an_idle_connection_holds_up_the_end_for_a_bounded_time() -> None:
    with Server() as server, socket.create_connection(("127.0.0.1", server.port)) as plain:
        connection = server.tls().wrap_socket(plain, server_hostname="localhost")
        began = time.monotonic()
        server.signal(signal.SIGTERM)
        assert server.wait() == 0
        assert time.monotonic() - began < 15
        connection.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_without_connections_it_stops_at_once(number: int) -> None:
    with Server() as server:
        began = time.monotonic()
        assert server.stop(number) == 0
        assert time.monotonic() - began < 4


def test_tls_before_1_2_is_refused(server: Server) -> None:
    context = server.tls()
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    with (
        socket.create_connection(("127.0.0.1", server.port), timeout=10) as plain,
        pytest.raises(ssl.SSLError, match=r"ALERT_PROTOCOL_VERSION|EOF"),
    ):
        context.wrap_socket(plain, server_hostname="localhost")
    assert server.get("/healthz").status == 200


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", None])
def test_tls_with_and_without_a_name(server: Server, version: ssl.TLSVersion, name: str | None) -> None:
    context = server.tls()
    context.check_hostname = name is not None
    context.minimum_version = context.maximum_version = version
    context.set_alpn_protocols(["h2", "http/1.1"])
    with (
        socket.create_connection(("127.0.0.1", server.port), timeout=10) as plain,
        context.wrap_socket(plain, server_hostname=name) as connection,
    ):
        assert connection.selected_alpn_protocol() == "http/1.1"
        connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")


def test_a_client_that_does_not_know_the_authority_is_told_no(server: Server) -> None:
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(f"{server.url}/healthz")
    assert server.get("/healthz").status == 200
