"""What a snapshot says of the next mode."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from app.policy.compiled import Mode
from app.report.rollout import by_breakage, consequences, ending, injected_selector, standings, tally
from app.report.snapshot import ExceptionInForce, NamespaceState, SnapshotFinding, Workload

DENY = SnapshotFinding("p", "no-privileged", "deny", None, None, "/spec", "privileged", None)
WARN = replace(DENY, rule="no-gpu-bypass", outcome="warn", message="bypasses")
INJECT = replace(DENY, rule="gpu-nodes", outcome="inject", message="selector added")
SELECTOR = {"op": "add", "path": "/spec/nodeSelector", "value": {"accelerator": "gpu"}}


def workload(name: str, state: Any, *findings: SnapshotFinding, **fields: Any) -> Workload:
    return replace(Workload("v1", "Pod", name, "/spec", 1, True, None, state, findings, ()), **fields)


BAD = workload("bad", "refused", DENY, INJECT, patch=(SELECTOR,))
GOOD = workload("good", "changed", INJECT, patch=(SELECTOR,))
ODD = workload("odd", "warned", WARN)
EXEMPT = workload("exempt", "ready", exempt="pod")
READY = workload("ready", "ready")


def namespace(mode: Mode = "audit", *workloads: Workload, **fields: Any) -> NamespaceState:
    listed = workloads or (BAD, GOOD, ODD, EXEMPT, READY)
    return replace(NamespaceState("a", mode, "default", None, True, "warn", False, listed, ()), **fields)


def test_counts() -> None:
    assert tally(namespace()) == (5, 1, 1, 1, 1, 1)


def test_an_object_with_several_templates_counts_once_by_the_worst() -> None:
    head = workload("ray", "ready", kind="RayCluster", template="/a", gpu=False, pods=9)
    workers = workload("ray", "refused", DENY, kind="RayCluster", template="/b", pods=0)
    other = workload("ray", "ready", kind="RayCluster", api_version="other/v1")
    found = standings(namespace("audit", head, other, workers))
    assert [(each.title, each.pods, each.gpu, each.state) for each in found] == [
        ("RayCluster ray", 1, True, "ready"),
        ("RayCluster ray", 9, True, "refused"),
    ]
    assert tally(namespace("audit", head, workers)).gpu == 1


@pytest.mark.parametrize(
    ("mode", "target", "refused", "changed", "warned"),
    [
        ("disabled", "audit", [], [], []),
        ("audit", "warn", [], [], ["bad", "good", "odd"]),
        ("audit", "assist", [], ["bad", "good"], ["bad", "odd"]),
        ("audit", "enforce", ["bad"], ["good"], ["odd"]),
        ("warn", "assist", [], ["bad", "good"], []),
        ("warn", "enforce", ["bad"], ["good"], []),
        ("assist", "enforce", ["bad"], [], []),
    ],
)
def test_what_a_step_adds(mode: Mode, target: Mode, refused: list[str], changed: list[str], warned: list[str]) -> None:
    found = consequences(namespace(mode), target, None)
    names = [[each.name for each in listed] for listed in (found.refused, found.changed, found.warned)]
    assert names == [refused, changed, warned]
    assert found.breaks == bool(refused)
    assert found.stuck == []


def test_nodes_that_answer_to_no_selector() -> None:
    elsewhere = [{"zone": "a"}, {"accelerator": "tpu"}]
    found = consequences(namespace("warn"), "assist", elsewhere)
    assert [(each.name, selector) for each, selector in found.stuck] == [
        ("bad", {"accelerator": "gpu"}),
        ("good", {"accelerator": "gpu"}),
    ]
    assert found.breaks
    assert consequences(namespace("warn"), "assist", [*elsewhere, {"accelerator": "gpu", "zone": "b"}]).stuck == []
    assert consequences(namespace("audit"), "warn", elsewhere).stuck == []
    assert consequences(namespace("warn"), "assist", []).breaks  # a cluster without nodes


def test_selectors_in_a_patch() -> None:
    patch: list[dict[str, Any]] = [
        {"op": "add", "path": "/spec/template/spec/nodeSelector/example.com~1pool", "value": "h100"},
        {"op": "add", "path": "/spec/template/spec/nodeSelector", "value": {"a": "b"}},
        {"op": "add", "path": "/spec/template/spec/runtimeClassName", "value": "nvidia"},
    ]
    assert dict(injected_selector(patch)) == {"example.com/pool": "h100", "a": "b"}


def test_the_order_of_a_plan() -> None:
    states = [
        namespace("audit", BAD, name="breaks"),
        namespace("audit", READY, name="ready"),
        namespace("audit", ODD, name="warned"),
        namespace("audit", GOOD, name="changed"),
        namespace("enforce", GOOD, name="top", next=None),
        namespace("audit", GOOD, name="exempt", exempt=True),
    ]
    assert [each.name for each in by_breakage(states)] == ["ready", "warned", "changed", "breaks"]


def test_exceptions_that_end_soon() -> None:
    held = [ExceptionInForce(f"e-{day}", "r", date(2026, 12, day), "a@b", "R") for day in (20, 3, 16)]
    state = namespace("audit", READY, exceptions=tuple(held))
    assert [each.name for each in ending(state, date(2026, 12, 2))] == ["e-3", "e-16"]
