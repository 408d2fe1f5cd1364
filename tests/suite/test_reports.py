"""What a run of tests is written as."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from app.suite.formats import FORMATS, Style, new_report, totals
from tests.suite.running import POD, POLICY, Ran, ran, suite_of, written

PLAIN = Style()
CASES = [
    "{name: good, object: pod.yaml, expect: {allowed: false}}",
    '{name: "bad <&> \\"\\u0007 한국어", object: pod.yaml, expect: {allowed: true, gpu: false}}',
    "{name: lost, object: none.yaml, expect: {allowed: true}}",
]


@pytest.fixture
def result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ran:
    """A run with everything in it: what passed, failed, could not be run, and could not be read."""
    monkeypatch.chdir(tmp_path)
    other = suite_of("{name: a, object: pod.yaml, expect: {allowed: true}}").replace("p.yaml", "none.yaml")
    files = {
        "p.yaml": POLICY,
        "pod.yaml": POD,
        "t.yaml": suite_of(*CASES),
        "u.yaml": other,
        "w.yaml": "kind: PolicyTest",
    }
    written(tmp_path, files)
    return ran([Path()])


def report(name: str, result: Ran, style: Style = PLAIN, *, coverage: bool = False) -> str:
    text: list[str] = []
    found = new_report(name, text.append, style)
    for suite in result.suites:
        found.suite(suite)
    problems = tuple(result.problems)
    found.finish(problems, result.rows if coverage else None, totals(result.suites, problems))
    return "".join(text)


def test_formats() -> None:
    assert FORMATS == ("text", "json", "junit")


TEXT = """\
FAIL t: bad <&> "  한국어
  t.yaml:7:63: allowed: found false (deny no-privileged at /spec/containers/1/securityContext/privileged: container \
"side": privileged is true, which lets it use every GPU of the node; set securityContext.privileged to false), \
wanted true
  t.yaml:7:78: gpu: found true, wanted false
ERROR t: lost
  t.yaml:8:18: none.yaml cannot be read: No such file or directory
ERROR t: the policy cannot be used, so nothing was tested
  none.yaml:1:1: cannot be read: No such file or directory
ERROR tests: cannot be read
  w.yaml:1:7: not a test: apiVersion is null and kind is "PolicyTest", where gpugate.dev/v1alpha1 and PolicyTest are \
expected
"""


def test_text(result: Ran) -> None:
    assert report("text", result) == TEXT + "4 cases in 2 suites: 1 passed, 1 failed, 3 errors.\n"


def test_text_with_more_and_less(result: Ran) -> None:
    assert report("text", result, Style(quiet=True)) == TEXT
    assert report("text", result, Style(verbose=True)).startswith("ok t: good\nFAIL t: bad")
    covered = report("text", result, coverage=True)
    assert "coverage of p:\n  no-privileged          deny 2, holds never\n" in covered
    assert "3 of 9 outcomes exercised (33 %)\n" in covered
    quiet = report("text", result, Style(quiet=True), coverage=True)
    assert "deny 2, holds never" in quiet
    assert "exercised" not in quiet


def test_colour_changes_no_word(result: Ran) -> None:
    import click

    coloured = report("text", result, Style(color=True), coverage=True)
    assert coloured != report("text", result, coverage=True)
    assert click.unstyle(coloured) == report("text", result, coverage=True)


def test_json(result: Ran) -> None:
    value: Any = json.loads(report("json", result, coverage=True))
    assert list(value) == ["version", "tool", "suites", "errors", "coverage", "summary"]
    assert value["summary"] == {
        "suites": 2,
        "cases": 4,
        "passed": 1,
        "failed": 1,
        "updated": 0,
        "unproven": 0,
        "errors": 3,
    }
    first, second = value["suites"]
    assert [(case["name"][:4], case["status"]) for case in first["cases"]] == [
        ("good", "passed"), ("bad ", "failed"), ("lost", "error")
    ]  # fmt: skip
    assert (first["cases"][1]["file"], first["cases"][1]["line"], first["cases"][1]["column"]) == ("t.yaml", 7, 6)
    assert first["cases"][1]["failures"][1] == {
        "file": "t.yaml", "line": 7, "column": 78, "message": "gpu: found true, wanted false"
    }  # fmt: skip
    assert [policy["name"] for policy in first["policies"]] == ["p"]
    assert (second["cases"], len(second["errors"]), second["policies"]) == ([], 1, [])
    assert value["coverage"]["percent"] == 33.3
    assert value["coverage"]["rows"][0] == {
        "policy": "p", "kind": "rule", "name": "no-privileged", "outcomes": {"deny": 2, "holds": 0}
    }  # fmt: skip
    assert json.loads(report("json", result))["coverage"] is None


def test_junit(result: Ran) -> None:
    root = ElementTree.fromstring(report("junit", result))
    assert {key: root.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "5", "failures": "1", "errors": "3"
    }  # fmt: skip
    assert [suite.get("name") for suite in root] == ["t", "t", "tests"]
    for suite in root:
        cases = list(suite)
        assert suite.get("tests") == str(len(cases))
        assert suite.get("failures") == str(sum(case.find("failure") is not None for case in cases))
        assert suite.get("errors") == str(sum(case.find("error") is not None for case in cases))
    failed = root[0][1]
    assert failed.get("name") == 'bad <&> "\ufffd 한국어'
    failure = failed.find("failure")
    assert failure is not None
    assert (failure.get("message") or "").startswith("allowed: found false")
    assert (failure.text or "").splitlines()[1] == "t.yaml:7:78: gpu: found true, wanted false"
