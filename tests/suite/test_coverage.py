"""What the cases exercise of a policy, and which of its rules look at a pod."""

from pathlib import Path

import pytest

from app.engine import decide
from app.model.gpu import gpu_use
from app.policy.compiled import BoundInjection, BoundRule
from app.suite.coverage import Coverage, share
from app.suite.reach import class_after, conditions, out_of_reach, unmatched
from tests.contract.fixtures import FOLDER, fixtures, policy_of, subject_of
from tests.suite.running import POD, POLICY, ran, suite_of, written

EVERY = [
    pytest.param(folder.name, found.path, id=f"{folder.name}/{found.key}")
    for folder in sorted(FOLDER.iterdir())
    if folder.is_dir()
    for found in fixtures(folder.name, "", "pass", "fail", "note", "unchanged", "conflict")
]


@pytest.mark.parametrize(("folder", "path"), EVERY)
def test_what_is_out_of_reach_finds_nothing(folder: str, path: Path) -> None:
    """reach.py tells again what the engine decides: here they are held together."""
    policy, subject = policy_of(folder), subject_of(path)
    pod, context = subject.template.pod(), subject.context
    decision = decide(policy, pod, context)
    found = {finding.rule for finding in decision.findings + decision.changes}
    use, after = gpu_use(pod, policy.gpus, context), class_after(pod, decision.changes)
    bounds: list[BoundRule | BoundInjection] = [*policy.rules, *policy.injections]
    for bound in bounds:
        if out_of_reach(bound, pod, use, context, after) is not None:
            assert bound.name not in found


def outcomes(folder: Path, *cases: str) -> dict[str, dict[str, int]]:
    written(folder, {"p.yaml": POLICY, "pod.yaml": POD, "t.yaml": suite_of(*cases)})
    result = ran([folder / "t.yaml"])
    assert all(case.status != "error" for case in result.cases), result.messages
    return {row.name: row.outcomes for row in result.rows}


def case(name: str, more: str = "") -> str:
    return f"{{name: {name}, object: pod.yaml{more}, expect: {{gpu: true}}}}"


def test_outcomes_are_counted(tmp_path: Path) -> None:
    assert outcomes(tmp_path, case("a"), case("b", ", namespace: team-a")) == {
        "no-privileged": {"deny": 1, "holds": 0, "note": 1},
        "limits-equal-requests": {"deny": 0, "repair": 0, "holds": 2},
        "runtime-class": {"deny": 0, "repair": 2, "holds": 0},
        "mesh": {"lets through": 1},
    }


@pytest.mark.parametrize(
    "more", [", mode: disabled", ", namespace: kube-system", ", operation: UPDATE, oldObject: pod.yaml"]
)
def test_what_exercises_nothing(tmp_path: Path, more: str) -> None:
    counted = outcomes(tmp_path, case("a", more))
    assert {count for found in counted.values() for count in found.values()} == {0}


def test_share() -> None:
    assert share([]) == 100
    coverage = Coverage()
    coverage.policy(policy_of("node-selector"))
    assert [(row.kind, row.name, row.missed) for row in coverage.rows()] == [
        ("injection", "gpu-nodes", ["inject", "deny", "holds"]),
        ("injection", "gpu-nodes-or-others", ["inject", "holds"]),
    ]
    assert share(coverage.rows()) == 0


def test_conditions_of_a_match_are_named() -> None:
    first, second = policy_of("node-selector").injections
    assert conditions(first.match) == ["notNamespaces: notebooks"]
    assert conditions(second.match) == ["namespaces: notebooks"]
    subject = subject_of(FOLDER / "node-selector" / "no-selector.yaml")
    pod, context = subject.template.pod(), subject.context
    use = gpu_use(pod, policy_of("node-selector").gpus, context)
    assert unmatched(first.match, pod, use, context, "") is None
    assert unmatched(second.match, pod, use, context, "") == "match.namespaces is notebooks"
