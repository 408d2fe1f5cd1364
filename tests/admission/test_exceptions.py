"""Exceptions: which violations they let through, how they say so, and when they end."""

from datetime import date, timedelta
from typing import Any

import pytest

from app.admission.exceptions import NOTICE
from app.policy.compiled import Mode, Policy
from tests.admission.asking import Object, ask
from tests.engine.judging import classes, gpu_pod
from tests.engine.policies import policy

END = date(2027, 6, 30)
FAR = END - timedelta(days=100)


def excepting(match: str, rules: str = "no-privileged", action: str = "deny", more: str = "") -> Policy:
    return policy(
        f"""
  gpus: {{presets: [nvidia]}}
  rules:
    - {{rule: no-privileged, action: {action}, help: ask us}}
    - {{rule: limits-equal-requests}}
    - {{rule: runtime-class, repair: true, with: {{default: nvidia}}}}
  exceptions:
    - {{name: mesh, rules: [{rules}], match: {match}, owner: mesh@example.com, reason: INC-1, expires: {END}}}
{more}"""
    )


def privileged(name: str = "istio-init", image: str = "registry.example.com/proxyv2:1", **spec: Any) -> Object:
    init = {"name": name, "image": image, "securityContext": {"privileged": True}}
    return gpu_pod(initContainers=[init], runtimeClassName="nvidia", **spec)


TEAM = excepting("{namespaces: [team]}")


def test_a_violation_is_let_through_and_recorded() -> None:
    reply = ask(TEAM, "validate", "enforce", privileged(), today=FAR)
    assert (reply.allowed, reply.warnings) == (True, [])
    assert reply.annotations == {
        "mode": "enforce",
        "findings": 'note test/no-privileged: init container "istio-init": privileged is true, which lets it use every '
        "GPU of the node; set securityContext.privileged to false - let through by exception "
        '"mesh" (INC-1, mesh@example.com)',
    }
    assert reply.answer.verdict == "allowed"


@pytest.mark.parametrize("mode", ["warn", "assist"])
def test_nobody_is_warned_of_it(mode: Mode) -> None:
    assert ask(TEAM, "validate", mode, privileged(), today=FAR).warnings == []
    assert len(ask(TEAM, "validate", mode, privileged(), today=FAR, namespace="other").warnings) == 1


@pytest.mark.parametrize(
    ("day", "allowed", "warned"),
    [
        (FAR, True, False),
        (END - NOTICE - timedelta(days=1), True, False),
        (END - NOTICE, True, True),
        (END - timedelta(days=1), True, True),
        (END, True, True),  # the last day
        (END + timedelta(days=1), False, False),
        (END + timedelta(days=1000), False, False),
        (None, False, False),  # who doesn't know the day knows of no exception
    ],
)
def test_the_end(day: date | None, allowed: bool, warned: bool) -> None:
    assert timedelta(days=14) == NOTICE
    reply = ask(TEAM, "validate", "enforce", privileged(), today=day)
    assert reply.allowed is allowed
    assert bool(reply.warnings) is warned
    if warned:
        (text,) = reply.warnings
        assert text.startswith(
            'test/no-privileged: exception "mesh" (INC-1, mesh@example.com) lets this through only until 2027-06-30: '
            'init container "istio-init": privileged is true'
        )
    assert ask(TEAM, "validate", "audit", privileged(), today=day).warnings == []


@pytest.mark.parametrize(
    ("match", "covered"),
    [
        ("{namespaces: [team]}", True),
        ("{namespaces: ['t*']}", True),
        ("{namespaces: [other]}", False),
        ("{notNamespaces: [other], containers: [istio-init]}", True),
        ("{notNamespaces: [team], containers: [istio-init]}", False),
        ("{containers: [istio-init]}", True),
        ("{containers: ['istio-*']}", True),
        ("{containers: [istio]}", False),
        ("{images: ['registry.example.com/proxyv2:*']}", True),
        ("{images: ['registry.example.com/proxyv2']}", False),
        ("{images: ['*/proxyv2:?']}", True),
        ("{images: ['evil.example.com/registry.example.com/proxyv2:*']}", False),
        ("{podLabels: {app: web}}", True),
        ("{podLabels: {app: 'w*'}}", True),
        ("{podLabels: {app: api}}", False),
        ("{podLabels: {absent: '*'}}", False),
        ("{namespaces: [team], containers: [istio-init], images: ['*']}", True),
        ("{namespaces: [other], containers: [istio-init]}", False),
        ("{namespaces: [team], containers: [other]}", False),
    ],
)
def test_what_it_covers(match: str, covered: bool) -> None:
    reply = ask(excepting(match), "validate", "enforce", privileged(labels={"app": "web"}), today=FAR)
    assert reply.allowed is covered


def test_another_rule_is_not_covered() -> None:
    let = excepting("{namespaces: [team]}", "limits-equal-requests")
    assert not ask(let, "validate", "enforce", privileged()).allowed


def test_each_container_is_covered_by_itself() -> None:
    pod = privileged()
    pod["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    reply = ask(excepting("{containers: [istio-init]}"), "validate", "enforce", pod, today=FAR)
    assert not reply.allowed
    assert reply.message.startswith('test/no-privileged: container "main": ')
    assert reply.message.endswith(" (ask us)")
    assert [line.split()[0] for line in reply.annotations["findings"].splitlines()] == ["note", "deny"]


def test_a_violation_without_container_is_covered_by_no_name_and_no_image() -> None:
    pod = gpu_pod(runtimeClassName="runc")
    matches = {"{images: ['?*']}": False, "{containers: [main]}": False, "{namespaces: [team]}": True}
    for match, covered in matches.items():
        reply = ask(excepting(match, "runtime-class"), "validate", "enforce", pod, today=FAR)
        assert reply.allowed is covered


def test_the_first_that_covers_it_is_named() -> None:
    fields = "rules: [no-privileged], match: {namespaces: [team]}, owner: a, reason: b, expires: 2028-01-01"
    both = excepting("{namespaces: [team]}", more=f"    - {{name: second, {fields}}}\n")
    reply = ask(both, "validate", "enforce", privileged(), today=FAR)
    assert 'exception "mesh"' in reply.annotations["findings"]
    reply = ask(both, "validate", "enforce", privileged(), today=date(2027, 12, 1))
    assert 'exception "second"' in reply.annotations["findings"]


@pytest.mark.parametrize("action", ["warn", "audit"])
def test_weaker_rules_have_exceptions_too(action: str) -> None:
    reply = ask(excepting("{namespaces: [team]}", action=action), "validate", "warn", privileged(), today=FAR)
    assert reply.warnings == []
    assert reply.annotations["findings"].startswith("note test/no-privileged")


def test_the_mutating_call_refuses_nothing_that_is_let_through() -> None:
    unequal = gpu_pod(runtimeClassName="nvidia")
    unequal["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": 2}, "requests": {"nvidia.com/gpu": 1}}
    let = excepting("{namespaces: [team]}", "limits-equal-requests")
    reply = ask(let, "mutate", "enforce", unequal, today=FAR)
    assert reply.allowed  # the API server will refuse it in its own words
    assert reply.annotations == {}  # the validating call would record it
    assert not ask(let, "mutate", "enforce", unequal, today=END + timedelta(days=1)).allowed
    assert not ask(let, "mutate", "enforce", unequal, today=FAR, namespace="other").allowed


def test_what_can_be_repaired_is_repaired_all_the_same() -> None:
    let = excepting("{namespaces: [team]}", "runtime-class")
    reply = ask(let, "mutate", "enforce", gpu_pod(), today=FAR)
    assert reply.applied_to(gpu_pod())["spec"]["runtimeClassName"] == "nvidia"
    assert ask(let, "validate", "enforce", gpu_pod(), today=FAR).allowed


def test_a_class_that_is_left_out_is_said_all_the_same() -> None:
    let = excepting("{namespaces: [team]}", "runtime-class")
    reply = ask(let, "mutate", "warn", gpu_pod(), today=FAR, facts=classes())
    assert "left out" in reply.annotations["findings"]
    assert len(reply.warnings) == 1
    assert "exception" not in reply.warnings[0]
