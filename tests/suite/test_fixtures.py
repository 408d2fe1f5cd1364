"""Folders of fixtures and goldens, and what is found where."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from app.suite.discover import Discovery, matching
from app.suite.golden import golden_failures, write_golden
from tests.suite.running import POD, POLICY, ran, suite_of, written

CLEAN = POD.replace("true", "false").replace("spec:", "spec:\n  runtimeClassName: nvidia")
CPU = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: 'a:1'}]}\n"
REPAIRED = POD.replace("true", "false")
EXEMPT = CPU.replace("name: a}", "name: a, namespace: kube-system}", 1)
LEFT_OUT = "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: other}\n---" + REPAIRED


@pytest.mark.parametrize(
    ("folder", "holds", "fails"),
    [
        ("pass", [CLEAN, CPU], [POD, REPAIRED, LEFT_OUT]),
        ("fail", [POD, REPAIRED], [CLEAN, CPU, LEFT_OUT]),
        ("note", [LEFT_OUT], [CLEAN, POD, REPAIRED]),
        ("unchanged", [CLEAN, CPU], [POD, REPAIRED]),
        ("conflict", [POD], [CLEAN, REPAIRED]),
    ],
)
@pytest.mark.parametrize("inner", ["", "inner/"])
def test_what_the_name_of_a_folder_expects(
    tmp_path: Path, folder: str, holds: list[str], fails: list[str], inner: str
) -> None:
    written(tmp_path, {"policy.yaml": POLICY})
    for number, text in enumerate([*holds, *fails, EXEMPT]):
        written(tmp_path, {f"{folder}/{inner}{number}.yaml": text})
    result = ran([tmp_path])
    wanted = ["passed"] * len(holds) + ["failed"] * (len(fails) + 1)
    assert [case.status for case in result.cases] == wanted
    assert result.messages[-1].endswith('exempt: found "namespace": nothing is asked of the policy here; wanted none')
    assert [case.status for case in ran([tmp_path / folder]).cases] == wanted


def test_a_golden_is_what_the_object_is_afterwards(tmp_path: Path) -> None:
    golden = REPAIRED.replace("spec:", "spec:\n  runtimeClassName: nvidia")
    written(tmp_path, {"policy.yaml": POLICY, "x.yaml": REPAIRED, "x.expected.yaml": golden, "messages.yaml": "a: b"})
    assert [(case.case.name, case.status) for case in ran([tmp_path]).cases] == [("x.yaml", "passed")]
    written(tmp_path, {"x.expected.yaml": golden.replace("nvidia\n", "kata\n").replace("name: a", "name: b")})
    assert ran([tmp_path]).messages == [
        'x.expected.yaml:4:18: /metadata/name: found "a", wanted "b"',
        'x.expected.yaml:6:21: /spec/runtimeClassName: found "nvidia", wanted "kata"',
    ]


def test_an_object_with_a_golden_must_be_admitted(tmp_path: Path) -> None:
    golden = POD.replace("spec:", "spec:\n  runtimeClassName: nvidia")
    files = {"policy.yaml": POLICY, "x.yaml": POD, "x.expected.yaml": golden}
    written(tmp_path, files)
    (message,) = ran([tmp_path]).messages
    assert message.startswith("x.yaml:1:1: allowed: found false (deny no-privileged")
    written(tmp_path / "fail", files)
    assert [case.status for case in ran([tmp_path / "fail"]).cases] == ["passed"]


@pytest.mark.parametrize(
    ("golden", "message"),
    [
        ("", "x.expected.yaml:1:1: found no objects, wanted the object as it is afterwards (--update writes it)"),
        ("a: b\n---\na: b\n", "x.expected.yaml:1:1: found 2 objects, wanted the object as it is afterwards"),
        ("a: [\n", "x.expected.yaml:2:1: "),
    ],
)
@pytest.mark.parametrize("suffix", ["yaml", "yml", "json"])
def test_update(tmp_path: Path, golden: str, message: str, suffix: str) -> None:
    written(tmp_path, {"policy.yaml": POLICY, f"x.{suffix}": CPU, f"x.expected.{suffix}": golden})
    before = ran([tmp_path])
    assert [case.status for case in before.cases] == ["failed"]
    assert before.messages[0].startswith(message.replace("yaml", suffix)) or suffix == "json"
    assert [case.status for case in ran([tmp_path], update=True).cases] == ["updated"]
    assert yaml.safe_load((tmp_path / f"x.expected.{suffix}").read_text()) == yaml.safe_load(CPU)
    assert [case.status for case in ran([tmp_path], update=True).cases] == ["passed"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["policy.yaml", f"x.{suffix}", f"x.expected.{suffix}"]
    )


def test_update_leaves_what_is_no_golden(tmp_path: Path) -> None:
    written(tmp_path, {"policy.yaml": POLICY, "x.yaml": POD, "x.expected.yaml": ""})
    result = ran([tmp_path], update=True)
    assert [case.status for case in result.cases] == ["failed"]
    assert result.messages[0].startswith("x.yaml:1:1: allowed: found false")
    assert "runtimeClassName: nvidia" in (tmp_path / "x.expected.yaml").read_text()


@pytest.mark.parametrize("value", ["y", "0o10", "1_000", "<<", "null", "", "a: b", "12:30:45", "한국어", "#", "1e3"])
def test_a_golden_is_read_as_it_was_written(tmp_path: Path, value: str) -> None:
    obj: dict[str, Any] = {"labels": {value or "k": value}, "same": [value, value]}
    path = str(tmp_path / "x.yaml")
    write_golden(path, obj)
    assert list(golden_failures(path, obj)) == []


def test_a_golden_without_an_object_is_an_error(tmp_path: Path) -> None:
    written(tmp_path, {"policy.yaml": POLICY, "x.expected.yaml": CPU, "x.yml": CPU})
    assert ran([tmp_path]).messages == ["x.expected.yaml:1:1: there is no x.yaml beside it, whose result it would be"]


def test_fixtures_need_a_policy(tmp_path: Path) -> None:
    kyverno = "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\n"
    written(tmp_path, {"a/policy.yaml": kyverno, "a/pass/x.yaml": CPU, "p.yaml": POLICY})
    result = ran([tmp_path])
    assert (result.cases, result.messages) == ([], [])
    assert result.unused == [str(tmp_path / "a/pass/x.yaml")]
    given = ran([tmp_path], policy=str(tmp_path / "p.yaml"))
    assert [(case.case.name, case.status) for case in given.cases] == [("a/pass/x.yaml", "passed")]


def test_what_is_found_where(tmp_path: Path) -> None:
    test = suite_of("{name: a, object: ../pod.yaml, expect: {allowed: true}}")
    written(
        tmp_path,
        {
            "pod.yaml": CPU,
            ".hidden/t.yaml": test,
            ".git/t.yaml": test,
            "b/t.json": "not one",
            "b/t.txt": test,
            "b/policy.yml": POLICY,
            "b/pass/x.yaml": CPU,
            "b/fail/deep/policy.yaml": POLICY,
            "b/fail/deep/y.yaml": POD,
        },
    )
    (tmp_path / "b" / "loop").symlink_to(tmp_path)
    found = Discovery([str(tmp_path)])
    assert found.problems == []
    shown = [(suite.file, [case.name for case in suite.cases]) for suite in found.suites]
    assert shown == [
        (str(tmp_path / ".hidden/t.yaml"), ["a"]),
        (str(tmp_path / "b/fail/deep"), ["y.yaml"]),
        (str(tmp_path / "b"), ["pass/x.yaml"]),
    ]


def test_what_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "gone.yaml").symlink_to("nowhere")
    for path in (tmp_path, tmp_path / "gone.yaml"):
        assert ran([path]).messages == ["gone.yaml:1:1: cannot be read: No such file or directory"]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [("t/", "ab"), ("t/a", "a"), ("/b", "b"), ("t/[b-z]", "b"), ("*", "ab"), ("T", ""), ("t/a*", "a")],
)
def test_cases_can_be_chosen(tmp_path: Path, pattern: str, names: str) -> None:
    cases = [f"{{name: {name}, object: x.yaml, expect: {{allowed: true}}}}" for name in "ab"]
    written(tmp_path, {"t.yaml": suite_of(*cases)})
    suites = list(matching(Discovery([str(tmp_path)]).suites, (pattern,)))
    assert [case.name for suite in suites for case in suite.cases] == list(names)
