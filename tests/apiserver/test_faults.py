"""Servers that are replaced and killed under load: what the API server's clients see of it."""

from __future__ import annotations

import itertools
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.certs import issue, make_authority
from tests.controlplane import ControlPlane, wait_for
from tests.support.balancer import Balancer
from tests.support.cluster import Installed, gpu_pod, installed
from tests.support.server import Server

CLIENTS = 6
MOST = 20_000


class Load:
    """Clients that create pods in an `enforce` namespace, dry, one after the other, until they are stopped."""

    def __init__(self, made: Installed, namespace: str) -> None:
        self._made = made
        self._path = f"/api/v1/namespaces/{namespace}/pods?dryRun=All"
        self._stop = threading.Event()
        self.answers: list[list[str]] = [[] for _ in range(CLIENTS)]
        self._threads = [threading.Thread(target=self._run, args=(answers,)) for answers in self.answers]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, answers: list[str]) -> None:
        client = self._made.plane.client()
        while not self._stop.is_set() and len(answers) < MOST // CLIENTS:
            answer = client.post(self._path, gpu_pod())
            changed = answer.status == 201 and "nodeSelector" in answer.body["spec"]
            answers.append("" if changed else str(answer.body.get("message", answer.status)))

    @property
    def calls(self) -> int:
        return sum(map(len, self.answers))

    @property
    def failures(self) -> list[str]:
        return [answer for answers in self.answers for answer in answers if answer]

    def go_on(self, calls: int) -> None:
        """Wait for that many more answers."""
        wanted = self.calls + calls
        wait_for(lambda: self.calls >= wanted, timeout=60, message=f"{calls} more calls")


Start = Callable[[], Server]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts servers that share one certificate, as the pods of a Deployment do."""
    folder = tmp_path / "certs"
    folder.mkdir()
    authority = make_authority(datetime.now(UTC))
    pair = issue(authority, ["127.0.0.1"], datetime.now(UTC))
    for name, content in (("ca.crt", authority.certificate), ("tls.crt", pair.certificate), ("tls.key", pair.key)):
        (folder / name).write_bytes(content)
    with ExitStack() as stack:
        yield lambda: stack.enter_context(Server("shipped", cert_dir=folder, drains=False))


def test_a_rolling_restart_fails_no_call(plane: ControlPlane, start: Start) -> None:
    servers = [start()]
    with Balancer([servers[0].port]) as balancer, installed(plane, servers[0], url=balancer.url) as made:
        namespace = made.namespace("enforce")
        made.wait_until_known(namespace)
        servers.append(start())
        balancer.ports = tuple(server.port for server in servers)
        with Load(made, namespace) as load:
            for _ in range(2):
                load.go_on(200)
                old, new = servers.pop(0), start()
                servers.append(new)
                balancer.ports = tuple(server.port for server in servers)
                old.signal(signal.SIGTERM)
                assert old.wait() == 0
                assert old.logs()[-1]["event"] == "stopped"
            load.go_on(max(200, 1000 - load.calls))
        assert load.failures == []
        assert load.calls >= 1000
        assert all(server.metric("gpugate_reviews_total", endpoint="mutate") > 0 for server in servers)


def test_a_kill_fails_only_calls_in_flight(plane: ControlPlane, start: Start) -> None:
    servers = [start()]
    with Balancer([servers[0].port]) as balancer, installed(plane, servers[0], url=balancer.url) as made:
        namespace = made.namespace("enforce")
        made.wait_until_known(namespace)
        servers.append(start())
        balancer.ports = tuple(server.port for server in servers)
        with Load(made, namespace) as load:
            load.go_on(200)
            servers[0].signal(signal.SIGKILL)
            assert servers[0].wait() == -signal.SIGKILL
            load.go_on(300)
        failures = load.failures
        assert all("failed calling webhook" in failure for failure in failures)
        assert len(failures) <= CLIENTS
        for answers in load.answers:  # whoever failed once succeeded with the next attempt
            assert not any(first and second for first, second in itertools.pairwise(answers))
