"""`gpugate test` on Kyverno's tests: exit codes and reports."""

from pathlib import Path
from xml.etree import ElementTree

from tests.cli.conftest import Gpugate
from tests.suite.test_kyverno import row, run


def test_what_is_unproven_is_counted_apart(gpugate: Gpugate) -> None:
    run(Path(), row(), row("misspelt"))
    outcome = gpugate("test")
    assert (outcome.code, outcome.err) == (0, "")
    assert "unproven t: p/misspelt/Pod/good\n" in outcome.out
    assert outcome.out.endswith("2 cases in 1 suite: 1 passed, 1 unproven.\n")
    found = gpugate("test", "-o", "json").json()
    assert found["summary"]["unproven"] == 1
    assert [case["status"] for case in found["suites"][0]["cases"]] == ["passed", "unproven"]
    (suite,) = ElementTree.fromstring(gpugate("test", "-o", "junit").out)
    assert (suite.get("failures"), suite.get("errors")) == ("0", "0")
    (skipped,) = suite.iter("skipped")
    assert str(skipped.get("message")).startswith('the policy has no rule "misspelt"')


def test_what_fails_fails(gpugate: Gpugate) -> None:
    run(Path(), row(), row(resources="[bad]"))
    assert gpugate("test").code == 1
    assert gpugate("test", "--run", "Pod/good").code == 0
    assert gpugate("test", "--run", "nothing").err == "Error: no case matches nothing in .\n"


def test_what_cannot_be_run_is_an_error(gpugate: Gpugate) -> None:
    run(Path(), row(policy="q"))
    assert gpugate("test").code == 2
    run(Path(), row(), head="polices: []")
    outcome = gpugate("test")
    assert outcome.code == 2
    assert outcome.out.startswith("ERROR t: the test cannot be used, so nothing was tested\n")
