"""A policy on its way to the servers, with webhook configurations of a real API server in step."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import Any, NamedTuple

import pytest

from app.manifests.keeper_names import POLICY_SOURCE
from app.manifests.scope import scope_digest
from app.policy.load import load
from tests.controlplane import wait_for
from tests.support.keeper import Driven, Site, policy
from tests.support.server import Server


def digest(content: str) -> str:
    return load([("policy.yaml", content.encode())]).digest


def scope(content: str, kind: str = "tight") -> str:
    return scope_digest(load([("policy.yaml", content.encode())]), kind)  # type: ignore[arg-type]


def privileged(resource: str) -> dict[str, Any]:
    container = {
        "name": "main",
        "image": "registry.example.com/model:1",
        "securityContext": {"privileged": True},
        "resources": {"limits": {resource: 1}},
    }
    meta = {"generateName": "pod-"}
    return {"metadata": meta, "spec": {"containers": [container], "schedulerName": "none"}}


def refused(site: Site, resource: str) -> bool:
    """Whether a privileged pod with such a GPU is refused, by gpugate."""
    answer = site.api.post(f"/api/v1/namespaces/{site.team}/pods?dryRun=All", privileged(resource))
    if answer.status == 201:
        return False
    assert answer.status == 403, answer.body
    assert "no-privileged" in answer.body["message"]
    return True


@contextmanager
def ready(site: Site, keeper: Driven, content: str) -> Iterator[Server]:
    """A server with this policy, called by the API server."""
    site.write_policy(content)
    keeper.step()
    with site.server() as server:
        keeper.until(lambda: site.scopes() == {scope(content)}, "the configurations of the policy")
        yield server


class Attempt(NamedTuple):
    """One pod that was tried to create: when that began (monotonic seconds), and the status."""

    began: float
    status: int


@contextmanager
def creating(site: Site, resource: str) -> Iterator[list[Attempt]]:
    """A client that creates privileged pods with such GPUs all the while."""
    attempts: list[Attempt] = []
    stop = threading.Event()

    def run() -> None:
        while not stop.is_set():
            began = monotonic()
            answer = site.api.post(f"/api/v1/namespaces/{site.team}/pods?dryRun=All", privileged(resource))
            attempts.append(Attempt(began, answer.status))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield attempts
    finally:
        stop.set()
        thread.join()


def test_no_pod_slips_through_while_a_policy_widens(make_site: Callable[..., Site]) -> None:
    site = make_site(create=False)
    narrow, wide = policy(site.team), policy(site.team, presets=["nvidia", "amd"])
    keeper = site.keeper()
    with ready(site, keeper, narrow) as server:
        wait_for(lambda: refused(site, "nvidia.com/gpu"), message="the API server to call")
        assert not refused(site, "amd.com/gpu")
        with creating(site, "amd.com/gpu") as attempts:
            wait_for(lambda: len(attempts) > 5)
            site.write_policy(wide)
            sent_before = False

            def in_force() -> float | None:
                nonlocal sent_before
                running = server.get("/policy", metrics_port=True).json["digest"]
                if running == digest(wide):
                    return monotonic()
                sent_before = sent_before or server.metric("gpugate_reviews_total", verdict="allowed") > 0
                return None

            since = keeper.until(in_force, "the new policy in the server")
            assert sent_before, "such pods were sent before the server knew why"
            assert site.scopes() == {f"{scope(narrow)}.{scope(wide)}"}
            keeper.until(lambda: site.scopes() == {scope(wide)}, "the configurations of the new policy alone")
            wait_for(lambda: attempts[-1].began > since + 1, message="pods created with the last configurations")
        assert {each.status for each in attempts if each.began >= since} == {403}
        statuses = [each.status for each in attempts]
        assert set(statuses) == {201, 403}
        assert statuses == sorted(statuses), "once refused, always refused"
        assert server.metric("gpugate_scope_mismatch") == 0
        assert not server.logs("scope_mismatch")
        assert len(keeper.events.of("policy_in_force")) == 1


def test_a_policy_that_narrows_stops_the_calls(site: Site) -> None:
    wide, narrow = policy(site.team, presets=["nvidia", "amd"]), policy(site.team)
    keeper = site.keeper()
    with ready(site, keeper, wide) as server:
        wait_for(lambda: refused(site, "amd.com/gpu"), message="the API server to call")
        site.write_policy(narrow)
        with creating(site, "nvidia.com/gpu") as attempts:
            keeper.until(lambda: site.scopes() == {scope(narrow)}, "the configurations of the new policy")
        assert {each.status for each in attempts} == {403}, "what both judge is judged all the while"
        assert not refused(site, "amd.com/gpu")

        def uncalled() -> bool:
            before = server.metric("gpugate_reviews_total")
            refused(site, "amd.com/gpu")
            return server.metric("gpugate_reviews_total") == before

        wait_for(uncalled, message="the calls to stop")
        assert site.served == {"policy.yaml": narrow.encode()}


def test_a_namespace_comes_under_enforce_with_the_new_rules_at_once(site: Site) -> None:
    """It never sees the rules of the policy before in its new mode."""
    other = site.plane.namespace("other")
    first = policy(other, rules=["no-privileged"])
    second = policy(site.team, rules=["limits-equal-requests"])
    keeper = site.keeper()
    with ready(site, keeper, first):
        with creating(site, "nvidia.com/gpu") as attempts:
            site.write_policy(second)
            keeper.until(lambda: site.scopes() == {scope(second)}, "the configurations of the new policy")
        assert {each.status for each in attempts} == {201}


def test_nothing_is_written_while_nothing_changes(site: Site) -> None:
    keeper = site.keeper()
    with ready(site, keeper, policy(site.team)):
        keeper.step()
        before = [each["metadata"]["resourceVersion"] for each in site.configurations()]
        written = keeper.metric(
            "gpugate_keeper_configuration_writes_total", configuration="MutatingWebhookConfiguration"
        )
        for _ in range(5):
            assert keeper.step()
        assert [each["metadata"]["resourceVersion"] for each in site.configurations()] == before
        assert written == 1


def test_a_policy_that_only_answers_differently_is_handed_on_without_new_configurations(site: Site) -> None:
    first = policy(site.team)
    second = first.replace("rule: no-privileged", "rule: no-privileged\n    help: ask us")
    assert scope(first) == scope(second)
    keeper = site.keeper()
    with ready(site, keeper, first) as server:
        site.write_policy(second)
        keeper.until(lambda: server.get("/policy", metrics_port=True).json["digest"] == digest(second))
        assert site.scopes() == {scope(first)}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (policy("x").replace("no-privileged", "no-privilege"), 'there is no rule "no-privilege"'),
        ("kind: Secret", "not a policy: kind is"),
        ("", "the file holds no document"),
    ],
    ids=["misspelt", "another kind", "empty"],
)
def test_a_bad_policy_is_never_handed_on(site: Site, content: str, problem: str) -> None:
    good = policy(site.team)
    keeper = site.keeper()
    with ready(site, keeper, good):
        before = site.configurations()
        site.write_policy(content)
        for _ in range(3):
            assert keeper.step()
        assert site.served == {"policy.yaml": good.encode()}
        assert site.configurations() == before
        assert keeper.metric("gpugate_keeper_policy_refused") == 1
        (said,) = keeper.events.of("policy_refused")
        assert said["level"] == "error"
        assert said["problems"][0].startswith("policy.yaml:")
        assert problem in said["problems"][0]
        (event,) = events(site)
        assert (event["reason"], event["type"], event["involvedObject"]["name"]) == (
            "PolicyRefused",
            "Warning",
            POLICY_SOURCE,
        )
        assert said["problems"][0] in event["message"]
        site.write_policy(policy(site.team, presets=["amd"]))
        keeper.step()
        assert keeper.metric("gpugate_keeper_policy_refused") == 0
        assert keeper.events.of("policy_mended")


def events(site: Site) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = site.api.get(f"/api/v1/namespaces/{site.namespace}/events").expect(200)["items"]
    return found


def test_without_a_policy_nothing_is_made(site: Site) -> None:
    keeper = site.keeper()
    for _ in range(2):
        assert keeper.step()
    assert (site.served, site.entries()) == (None, [])
    assert keeper.events.of("no_policy") == [{"event": "no_policy", "level": "warning", "configmap": POLICY_SOURCE}]
    # What is wrong with the very first one is told too.
    site.write_policy("nonsense: true")
    keeper.step()
    assert site.served is None
    assert keeper.events.of("policy_refused")


def test_configurations_are_made_once_a_server_answers(site: Site) -> None:
    site.write_policy(policy(site.team))
    keeper = site.keeper()
    for _ in range(3):
        keeper.step()
    assert site.entries() == []
    assert site.served
    assert len(keeper.events.of("no_server")) == 1
    impatient = site.keeper(handover=0.2)
    impatient.until(site.entries, "configurations that nobody answers")


def test_what_somebody_changed_is_mended(site: Site) -> None:
    content = policy(site.team, rules=["no-privileged", "limits-equal-requests"])
    keeper = site.keeper()
    with ready(site, keeper, content):
        good = [each["webhooks"] for each in site.configurations()]
        path = f"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{site.name}"
        entries = [{**each, "failurePolicy": "Ignore"} for each in good[1]]
        labels = {"metadata": {"labels": {"team": "platform"}}, "webhooks": entries}
        site.api.patch(path, labels).expect(200)
        keeper.step()
        assert [each["webhooks"] for each in site.configurations()] == good
        assert site.configurations()[1]["metadata"]["labels"]["team"] == "platform", "what is not its own stays"
        said = keeper.events.of("configuration_written")[-1]
        assert said["configuration"] == f"ValidatingWebhookConfiguration {site.name}"
        assert "entry validate-enforce-pinned-gpu.gpugate.dev differs in failurePolicy" in said["changes"]
        site.api.delete(path).expect(200)
        keeper.step()
        assert [each["webhooks"] for each in site.configurations()] == good


def test_a_server_that_never_gets_the_policy_does_not_hold_up_the_rest(site: Site) -> None:
    narrow, wide = policy(site.team), policy(site.team, presets=["nvidia", "amd"])
    keeper = site.keeper(handover=1.0)
    with ready(site, keeper, narrow):
        pass
    site.write_policy(wide)
    keeper.until(lambda: site.scopes() == {scope(wide)}, "the configurations of the new policy")
    (said,) = keeper.events.of("policy_not_seen")
    assert said["servers"] == [f"127.0.0.1:{site.port}"]


def test_a_change_of_mind_waits_for_the_change_before(site: Site) -> None:
    first, second = policy(site.team), policy(site.team, presets=["nvidia", "amd"])
    third = policy(site.team, presets=["nvidia", "intel"])
    keeper = site.keeper()
    with ready(site, keeper, first) as server:
        site.write_policy(second)
        keeper.until(lambda: site.served == {"policy.yaml": second.encode()}, "the second policy handed on")
        site.write_policy(third)
        keeper.step()
        assert site.scopes() == {f"{scope(first)}.{scope(second)}"}
        keeper.until(lambda: site.scopes() == {scope(third)}, "the configurations of the third policy")
        assert server.get("/policy", metrics_port=True).json["digest"] == digest(third)
        # Undone before it was handed on, it never comes to that.
        site.write_policy(first)
        keeper.step()
        assert site.scopes() == {f"{scope(third)}.{scope(first)}"}
        site.write_policy(third)
        keeper.until(lambda: site.scopes() == {scope(third)}, "the configurations as before")
        assert keeper.metric("gpugate_keeper_policy_handovers_total") == 3


def in_scope(site: Site, wanted: set[str]) -> bool:
    return site.scopes() == wanted


def test_two_keepers_at_once(site: Site) -> None:
    contents = [policy(site.team, presets=["nvidia", extra]) for extra in ("amd", "intel", "gaudi")]
    keeper = site.keeper()
    with ready(site, keeper, contents[0]) as server, site.keeper().running() as other:
        for content in contents[1:]:
            site.write_policy(content)
            wanted = {scope(content)}
            keeper.until(partial(in_scope, site, wanted), "the configurations of the policy")
            assert server.get("/policy", metrics_port=True).json["digest"] == digest(content)
        handed_on = [each.metric("gpugate_keeper_policy_handovers_total") or 0 for each in (keeper, other)]
    assert sum(handed_on) == 3, "the first, and each change once"
    levels = {line["level"] for each in (keeper, other) for line in each.events.lines}
    assert "error" not in levels
