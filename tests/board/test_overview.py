"""What the board makes of a snapshot: counts, order, next steps, and what a query finds."""

import pytest

from app.policy.compiled import Mode
from app.report.board.overview import overview, slug_of
from app.report.board.query import parse_query, select_rows, select_workloads
from tests.board.samples import BYPASS, PATCH, SET_CLASS, TOLERATION, namespace, rollout, snapshot, workload

STEPS: list[tuple[Mode, tuple[int, int, int, int], tuple[str, str | None, str]]] = [
    # refused, warned, changed, ready
    ("disabled", (3, 2, 1, 1), ("clear", "audit", "only a record is kept")),
    ("audit", (3, 2, 1, 1), ("some", "warn", "6 workloads would be warned about")),  # users hear of changes too
    ("audit", (0, 0, 0, 1), ("clear", "warn", "nothing to warn about")),
    ("warn", (1, 2, 1, 1), ("some", "assist", "2 workloads would be changed")),
    ("warn", (0, 2, 0, 1), ("clear", "assist", "nothing would be changed")),
    ("assist", (1, 2, 1, 1), ("blocked", "enforce", "1 workload would break")),
    ("assist", (0, 2, 1, 1), ("clear", "enforce", "nothing would break")),
    ("enforce", (2, 0, 0, 1), ("blocked", None, "2 workloads would not start again")),
    ("enforce", (0, 3, 3, 1), ("done", None, "enforced")),
]


@pytest.mark.parametrize(("mode", "counts", "expected"), STEPS)
def test_the_next_step(mode: Mode, counts: tuple[int, int, int, int], expected: tuple[str, str | None, str]) -> None:
    (row,) = overview(snapshot([namespace("a", mode, counts)])).rows
    assert (row.step.tone, row.step.to, row.step.text) == expected


def test_a_step_over_others_says_all_that_it_does() -> None:
    (row,) = overview(snapshot([namespace("a", "audit", (1, 2, 3, 4), next="enforce")])).rows
    assert row.step.text == "1 workload would break, 3 workloads would be changed, 2 workloads would be warned about"


def test_where_there_is_no_step() -> None:
    pinned = namespace("pinned", "warn", (1, 0, 0, 0), source="pinned", next=None)
    exempt = namespace("exempt", "warn", (1, 0, 0, 0), exempt=True)
    top = namespace("top", "warn", (1, 0, 0, 0), next=None)
    found = {row.name: row.step for row in overview(snapshot([pinned, exempt, top])).rows}
    assert {step.to for step in found.values()} == {None}
    assert found["pinned"].text == "the policy decides on its mode"
    assert found["exempt"].text == "exempt from the policy in every mode"
    assert found["top"].text == "the policy has no stricter mode for labels"


def test_an_object_with_several_templates_counts_once() -> None:
    workers = "/spec/workerGroupSpecs/0/template/spec"
    head = workload(2, "ready", name="ray", template="/spec/headGroupSpec/template/spec", pods=1)
    group = workload(2, "changed", [SET_CLASS, BYPASS], name="ray", template=workers, pods=0, patch=PATCH)
    (row,) = overview(snapshot([namespace("a", "warn", (0, 0, 0, 0), workloads=(head, group))])).rows
    assert (row.counts.total, row.counts.pods, row.counts.of["changed"]) == (1, 1, 1)
    assert row.rules == {"no-gpu-bypass"}


def test_what_asks_for_attention_comes_first_and_empty_namespaces_last() -> None:
    names = [row.name for row in overview(rollout()).rows]
    assert names[:3] == ["notebooks", "genomics", "sandbox"]  # 12, 5 and 4 would break
    assert names[-2:] == ["team-borealis", "default"]


def test_an_exempt_workload_is_neither_ready_nor_broken() -> None:
    exempt = workload(0, "refused", [], exempt="pod")
    board = overview(snapshot([namespace("a", "assist", (0, 0, 0, 0), workloads=(exempt,))]))
    assert board.counts.of == {"exempt": 1}
    assert board.rows[0].step.text == "nothing would break"


def test_rules_by_what_they_would_break() -> None:
    counted = {count.rule: count[1:] for count in overview(rollout()).rules}
    assert list(counted)[:3] == ["limits-equal-requests", "no-privileged", "runtime-class"]
    assert counted["no-privileged"] == (26, 26, 6)
    assert counted["gpu-nodes-reserved"] == (0, 13, 6)
    assert TOLERATION.rule not in counted  # an injection is no fault


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ({"q": "TEAM"}, ["team-atlas", "team-borealis"]),
        ({"mode": "disabled"}, ["sandbox"]),
        ({"state": "exempt"}, ["research-vision"]),
        ({"rule": "runtime-class"}, ["research-vision"]),
        ({"q": "rerank-11", "state": "refused"}, ["notebooks"]),
        ({"q": "deployment/llama-serve-24"}, ["ml-serving", "notebooks", "recsys", "research-nlp"]),
        ({"q": "  team   atlas "}, []),
        ({"mode": "strict", "state": "bad"}, [row.name for row in overview(rollout()).rows]),
        ({"mode": "enforce", "sort": "size"}, ["ml-serving", "recsys", "speech"]),
        ({"state": "refused", "sort": "mode"}, [
            "batch-eval", "genomics", "research-vision", "notebooks", "team-atlas", "sandbox",
        ]),
    ],
)  # fmt: skip
def test_a_query_finds_namespaces(asked: dict[str, str], names: list[str]) -> None:
    found = [row.name for row in select_rows(overview(rollout()).rows, parse_query(asked))]
    assert (found if "sort" in asked or len(asked) > 1 else sorted(found)) == (
        names if "sort" in asked or len(asked) > 1 else sorted(names)
    )


def test_a_query_finds_workloads() -> None:
    row = overview(rollout()).row("research-vision")
    assert row
    assert len(select_workloads(row, parse_query({"state": "refused"}))) == 3
    assert [each.name for each in select_workloads(row, parse_query({"rule": "runtime-class"}))] == ["embedder-1"]
    assert len(select_workloads(row, parse_query({"q": "x" * 5000}))) == 0


def test_slugs_are_names_that_files_and_addresses_take() -> None:
    assert slug_of("team-a") == "team-a"
    odd = [slug_of(name) for name in ("../../etc/passwd", "A", "", "a.b", "x" * 300, "ä", "_team")]
    assert len(set(odd)) == len(odd)
    assert all(slug.startswith("_") and slug[1:].isalnum() and len(slug) == 17 for slug in odd)
