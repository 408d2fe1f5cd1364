"""What each phase answers in each mode to each kind of finding."""

from typing import Any, NamedTuple

import pytest

from app.admission.webhook import Phase
from app.policy.compiled import Mode
from tests.admission.asking import Object, ask
from tests.engine.judging import classes, gpu_pod
from tests.engine.policies import POLICIES, policy

SHIPPED = POLICIES["shipped"]
MODES: list[Mode] = ["audit", "warn", "assist", "enforce"]
DONE: Object = {
    "runtimeClassName": "nvidia",
    "nodeSelector": {"accelerator": "nvidia-gpu"},
    "tolerations": [{"operator": "Exists"}],
}


def with_resources(pod: Object, **resources: Any) -> Object:
    pod["spec"]["containers"][0]["resources"] = resources
    return pod


GOOD = gpu_pod(**DONE)
CPU = with_resources(gpu_pod(), limits={"cpu": 1})
BARE = gpu_pod()
NO_LIMIT = with_resources(gpu_pod(**DONE), requests={"nvidia.com/gpu": 1})
UNEQUAL = with_resources(gpu_pod(**DONE), limits={"nvidia.com/gpu": 8}, requests={"nvidia.com/gpu": 6})
PRIVILEGED = gpu_pod(**DONE, initContainers=[{"name": "init", "securityContext": {"privileged": True}}])
OTHER_CLASS = gpu_pod(**{**DONE, "runtimeClassName": "runc"})
CONFLICT = gpu_pod(**{**DONE, "nodeSelector": {"accelerator": "l4"}})
BYPASS = with_resources(gpu_pod(runtimeClassName="nvidia"), limits={"cpu": 1})
SHARE = with_resources(gpu_pod(**DONE), requests={"deviceclass.resource.kubernetes.io/gpu.nvidia.com": 1})


class Case(NamedTuple):
    """What a phase answers: in `enforce`, and the rules that it warns of and that it records, mode by mode."""

    phase: Phase
    obj: Object
    allowed: bool
    changes: list[str]
    warned: dict[str, list[str]]
    recorded: list[str]


NONE: dict[str, list[str]] = {"audit": [], "warn": [], "assist": [], "enforce": []}

CASES = {
    "good": [Case("mutate", GOOD, True, [], NONE, []), Case("validate", GOOD, True, [], NONE, [])],
    "no GPU": [Case("mutate", CPU, True, [], NONE, []), Case("validate", CPU, True, [], NONE, [])],
    "repaired and injected": [
        Case(
            "mutate",
            BARE,
            True,
            ["runtime-class", "gpu-nodes", "gpu-nodes"],
            {**NONE, "warn": ["runtime-class", "gpu-nodes", "gpu-nodes"]},
            [],
        ),
        # A repair that is missing at the end: somebody took it away after gpugate ran. Not so where nothing repairs.
        Case(
            "validate",
            BARE,
            False,
            [],
            {**NONE, "assist": ["runtime-class"]},
            ["runtime-class"],
        ),
    ],
    "a limit repaired": [
        Case("mutate", NO_LIMIT, True, ["limits-equal-requests"], {**NONE, "warn": ["limits-equal-requests"]}, []),
        Case("validate", NO_LIMIT, False, [], {**NONE, "assist": ["limits-equal-requests"]}, ["limits-equal-requests"]),
    ],
    "what the API server will refuse": [
        Case(
            "mutate",
            UNEQUAL,
            False,
            [],
            {**NONE, "warn": ["limits-equal-requests"], "assist": ["limits-equal-requests"]},
            ["limits-equal-requests"],
        ),
        Case(
            "validate",
            UNEQUAL,
            False,
            [],
            {**NONE, "warn": ["limits-equal-requests"], "assist": ["limits-equal-requests"]},
            ["limits-equal-requests"],
        ),
    ],
    "a conflict with an injection": [
        Case(phase, CONFLICT, False, [], {**NONE, "warn": ["gpu-nodes"], "assist": ["gpu-nodes"]}, ["gpu-nodes"])
        for phase in ("mutate", "validate")
    ],
    "what a later webhook could mend": [
        Case("mutate", PRIVILEGED, True, [], NONE, []),
        Case(
            "validate",
            PRIVILEGED,
            False,
            [],
            {**NONE, "warn": ["no-privileged"], "assist": ["no-privileged"]},
            ["no-privileged"],
        ),
    ],
    "another class": [
        Case("mutate", OTHER_CLASS, True, [], NONE, []),
        Case(
            "validate",
            OTHER_CLASS,
            False,
            [],
            {**NONE, "warn": ["runtime-class"], "assist": ["runtime-class"]},
            ["runtime-class"],
        ),
    ],
    "a rule that warns": [
        Case("mutate", BYPASS, True, [], NONE, []),
        Case(
            "validate",
            BYPASS,
            True,
            [],
            {"audit": [], **{mode: ["no-gpu-bypass"] for mode in ("warn", "assist", "enforce")}},
            ["no-gpu-bypass"],
        ),
    ],
    "a device class's resource, which the API server lets through": [
        Case("mutate", SHARE, True, ["limits-equal-requests"], {**NONE, "warn": ["limits-equal-requests"]}, []),
        Case("validate", SHARE, False, [], {**NONE, "assist": ["limits-equal-requests"]}, ["limits-equal-requests"]),
    ],
}
LISTED = [pytest.param(case, id=f"{name}, {case.phase}") for name, cases in CASES.items() for case in cases]
REPAIRED = {"limits-equal-requests", "runtime-class"}


def rules_of(texts: list[str]) -> list[str]:
    return [text.split("gpu-pods/", 1)[1].split(":", 1)[0] for text in texts]


def lines_of(annotation: str | None) -> list[str]:
    return rules_of(annotation.split("\n")) if annotation is not None else []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", LISTED)
def test_answer(case: Case, mode: Mode) -> None:
    reply = ask(SHIPPED, case.phase, mode, case.obj)
    assert reply.allowed is (case.allowed or mode != "enforce")
    assert rules_of(reply.warnings) == case.warned[mode]
    assert bool(reply.patch) is (bool(case.changes) and mode in ("assist", "enforce"))
    # In audit and warn only the mutating call speaks of what would be repaired.
    as_if_repaired = case.phase == "validate" and mode in ("audit", "warn") and case.obj in (BARE, NO_LIMIT, SHARE)
    recorded = [] if as_if_repaired else case.recorded
    assert lines_of(reply.annotations.get("findings")) == recorded
    assert lines_of(reply.annotations.get("changes")) == case.changes
    assert reply.annotations.get("mode") == (mode if recorded or case.changes else None)
    assert set(reply.annotations) <= {"mode", "findings", "changes"}
    if not reply.allowed:
        assert (reply.status["code"], reply.status["reason"]) == (403, "Forbidden")
        assert rules_of([reply.message]) == case.recorded
        assert reply.answer.verdict == "refused"
    else:
        assert reply.status == {}
        assert reply.answer.verdict == ("changed" if reply.patch else "allowed")
    assert reply.answer.mode == mode
    assert bool(reply.answer.findings) is bool(recorded or case.changes)


@pytest.mark.parametrize("mode", MODES)
def test_audit_and_warn_say_what_the_others_do(mode: Mode) -> None:
    reply = ask(SHIPPED, "mutate", mode, BARE)
    assert reply.annotations["changes"].splitlines() == [
        'repair gpu-pods/runtime-class: runtimeClassName set to "nvidia"',
        "inject gpu-pods/gpu-nodes: toleration added for the GPU nodes' taint nvidia.com/gpu=present:NoSchedule",
        "inject gpu-pods/gpu-nodes: nodeSelector accelerator=nvidia-gpu added",
    ]
    assert all(text.startswith("would be changed: gpu-pods/") for text in reply.warnings)
    if mode in ("assist", "enforce"):
        after = reply.applied_to(BARE)
        assert after["spec"]["runtimeClassName"] == "nvidia"
        assert after["spec"]["nodeSelector"] == {"accelerator": "nvidia-gpu"}
        assert ask(SHIPPED, "validate", mode, after).annotations == {}


def test_a_refusal_of_the_mutating_call_lists_every_violation() -> None:
    pod = with_resources(gpu_pod(**{**DONE, "runtimeClassName": "runc", "nodeSelector": {"accelerator": "l4"}}))
    pod["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "500m"}}
    pod["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    pod["spec"]["volumes"] = [{"name": "dev", "hostPath": {"path": "/dev"}}]  # only a warning
    reply = ask(SHIPPED, "mutate", "enforce", pod)
    assert not reply.allowed
    assert reply.patch == []
    for number, rule in enumerate(("gpu-nodes", "limits-equal-requests", "no-privileged", "runtime-class"), 1):
        assert f"({number}) gpu-pods/{rule}: " in reply.message
    assert "no-gpu-bypass" not in reply.message
    assert len(reply.annotations["findings"].splitlines()) == 4
    # The same pod, but for what the API server would refuse: only the validating call refuses.
    del pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"]
    pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = 1
    pod["spec"]["nodeSelector"] = {}
    assert ask(SHIPPED, "mutate", "enforce", pod).allowed
    refused = ask(SHIPPED, "validate", "enforce", pod)
    assert rules_of(refused.message.split(" (2)")) == ["no-privileged", "runtime-class"]
    assert rules_of(refused.warnings) == ["no-gpu-bypass"]


@pytest.mark.parametrize("action", ["warn", "audit"])
@pytest.mark.parametrize("phase", ["mutate", "validate"])
def test_a_weaker_rule_never_refuses(action: str, phase: Phase) -> None:
    weak = policy(f"  gpus: {{presets: [nvidia]}}\n  rules: [{{rule: limits-equal-requests, action: {action}}}]\n")
    for mode in MODES:
        reply = ask(weak, phase, mode, UNEQUAL)
        assert reply.allowed
        assert reply.annotations["findings"].startswith(f"{action} test/limits-equal-requests: ")
        assert bool(reply.warnings) is (action == "warn" and mode != "audit")


@pytest.mark.parametrize("mode", MODES)
def test_a_class_that_is_left_out_is_said_by_the_mutating_call(mode: Mode) -> None:
    missing = classes()
    reply = ask(SHIPPED, "mutate", mode, BARE, facts=missing)
    assert reply.allowed
    assert "runtimeClassName" not in reply.applied_to(BARE)["spec"]
    warning = 'warn gpu-pods/runtime-class: runtimeClassName "nvidia" was left out'
    assert reply.annotations["findings"].startswith(warning)
    assert any("left out" in text for text in reply.warnings) is (mode != "audit")
    # Its absence is no violation, and nobody says it twice.
    assert ask(SHIPPED, "validate", mode, reply.applied_to(BARE), facts=missing).annotations == {}
    assert ask(SHIPPED, "validate", mode, reply.applied_to(BARE), facts=missing).allowed


@pytest.mark.parametrize("phase", ["mutate", "validate"])
def test_a_pinned_namespace_has_its_own_mode_whatever_the_path_says(phase: Phase) -> None:
    pinned = policy(
        "  gpus: {presets: [nvidia]}\n  modes: {namespaces: {strict: enforce, loose: warn, none: disabled}}\n"
        "  rules: [{rule: limits-equal-requests}]\n"
    )
    for mode in MODES:
        reply = ask(pinned, phase, mode, UNEQUAL, namespace="strict")
        assert (reply.allowed, reply.answer.mode) == (False, "enforce")
        reply = ask(pinned, phase, mode, UNEQUAL, namespace="loose")
        assert (reply.allowed, reply.answer.mode, len(reply.warnings)) == (True, "warn", 1)
        reply = ask(pinned, phase, mode, UNEQUAL, namespace="none")
        assert (reply.allowed, reply.warnings, reply.annotations) == (True, [], {})
        assert ask(pinned, phase, mode, UNEQUAL).answer.mode == mode


@pytest.mark.parametrize("phase", ["mutate", "validate"])
@pytest.mark.parametrize("mode", [*MODES, "disabled"])
def test_deletions_and_connections_go_on(phase: Phase, mode: Mode) -> None:
    for operation in ("DELETE", "CONNECT"):
        for obj in (None, UNEQUAL):
            reply = ask(SHIPPED, phase, mode, obj, operation=operation, old=UNEQUAL)
            assert (reply.allowed, reply.patch, reply.warnings, reply.annotations) == (True, [], [], {})


KINDS = [
    {"group": "apps", "version": "v1", "kind": "Deployment"},
    {"group": "", "version": "v1", "kind": "Binding"},
    {"group": "example.com", "version": "v1", "kind": "Pod"},
    {"group": "", "version": "v1", "kind": ""},
]


@pytest.mark.parametrize("phase", ["mutate", "validate"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_pod_is_an_error_as_the_mode_demands(phase: Phase, mode: Mode, kind: Object) -> None:
    reply = ask(SHIPPED, phase, mode, GOOD, kind=kind)
    check_error(mode, reply)
    assert reply.answer.error is not None
    assert f"/{phase} judges pods, and was sent a {kind['kind']}" in reply.answer.error


@pytest.mark.parametrize("phase", ["mutate", "validate"])
@pytest.mark.parametrize("mode", MODES)
def test_a_pod_that_cannot_be_read_is_an_error_as_the_mode_demands(phase: Phase, mode: Mode) -> None:
    reply = ask(SHIPPED, phase, mode, gpu_pod(tolerations="all\n"))
    check_error(mode, reply)
    assert reply.answer.error == "gpugate: spec.tolerations must be a list, found text"
    check_error(mode, ask(SHIPPED, phase, mode, {"kind": "Pod"}))


def check_error(mode: Mode, reply: Any) -> None:
    assert reply.answer.verdict == "error"
    assert reply.allowed is (mode != "enforce")
    assert reply.patch == reply.warnings == []
    if mode == "enforce":
        assert (reply.status["code"], reply.status["reason"]) == (500, "InternalError")
        assert reply.message == reply.answer.error
        assert reply.annotations == {}
    else:
        assert reply.annotations == {"mode": mode, "error": reply.answer.error}
