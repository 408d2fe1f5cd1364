"""Clients that do not go on cost the others nothing, and their connections end."""

import time

import httpx

from tests.controlplane import wait_for
from tests.server.samples import review
from tests.server.slow import DEADLINES, KINDS, SlowClients
from tests.support.server import Server

CLIENTS = 100
SLACK = 10.0
"""Seconds beyond a deadline: it is looked at once a second, and the machine may be busy."""


def durations(client: httpx.Client, count: int) -> list[float]:
    """How long good requests take, all of which are answered."""
    found = []
    for _ in range(count):
        began = time.perf_counter()
        answer = client.post("/mutate/enforce", json=review())
        found.append(time.perf_counter() - began)
        assert answer.status_code == 200
        assert answer.json()["response"]["allowed"] is True
    return sorted(found)


def p99(found: list[float]) -> float:
    return found[len(found) * 99 // 100]


def test_a_hundred_slow_clients() -> None:
    with Server() as server, server.new_client() as client:
        durations(client, 50)
        alone = p99(durations(client, 300))
        with SlowClients(server, CLIENTS) as slow:
            wait_for(lambda: slow.open == CLIENTS, message="all slow clients connected")
            beside = p99(durations(client, 300))
            print(f"p99 of good requests beside {CLIENTS} slow clients: {beside / alone:.2f} times that without them")
            answered = 0
            while any(len(slow.lifetimes[kind]) < CLIENTS // len(KINDS) for kind in KINDS):
                answered += len(durations(client, 20))
                time.sleep(0.05)  # good requests all the while, and not more than make the point
                assert answered < 20_000
            lifetimes = {kind: list(slow.lifetimes[kind]) for kind in KINDS}
        for kind in KINDS:
            assert max(lifetimes[kind]) < DEADLINES[kind] + SLACK, kind
        assert server.metric("gpugate_connections_ended_total", reason="deadline") >= CLIENTS // 2
        assert server.metric("gpugate_connections_ended_total", reason="idle") >= CLIENTS // 4
