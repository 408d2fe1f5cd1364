"""`gpugate test`: paths, options, exit codes, output."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from tests.cli.conftest import Gpugate
from tests.suite.running import POD, POLICY, suite_of, written

ROOT = Path(__file__).parents[2]
GOOD = "{name: good, object: pod.yaml, expect: {allowed: false}}"
BAD = "{name: bad, object: pod.yaml, expect: {allowed: true}}"
LOST = "{name: lost, object: none.yaml, expect: {allowed: true}}"


def tests(*cases: str) -> None:
    written(Path(), {"p.yaml": POLICY, "pod.yaml": POD, "t.yaml": suite_of(*cases)})


@pytest.mark.parametrize(
    ("cases", "code", "summary"),
    [
        ([GOOD], 0, "1 case in 1 suite: 1 passed.\n"),
        ([GOOD, BAD], 1, "2 cases in 1 suite: 1 passed, 1 failed.\n"),
        ([GOOD, BAD, LOST], 2, "3 cases in 1 suite: 1 passed, 1 failed, 1 error.\n"),
    ],
)
@pytest.mark.parametrize("arguments", [(), (".",), ("t.yaml",)])
def test_exit_codes(gpugate: Gpugate, cases: list[str], code: int, summary: str, arguments: tuple[str, ...]) -> None:
    tests(*cases)
    outcome = gpugate("test", *arguments)
    assert (outcome.code, outcome.err) == (code, "")
    assert outcome.out.endswith(summary)


def test_no_tests_are_an_error(gpugate: Gpugate) -> None:
    outcome = gpugate("test")
    assert (outcome.code, outcome.out, outcome.err) == (2, "", "Error: there are no tests in .\n")
    tests(GOOD)
    outcome = gpugate("test", "--run", "x", "--run", "y")
    assert (outcome.code, outcome.out, outcome.err) == (2, "", "Error: no case matches x or y in .\n")


@pytest.mark.parametrize("path", ["none.yaml", "none", "pod.yaml"])
def test_a_path_without_tests_is_an_error_beside_one_with_them(gpugate: Gpugate, path: str) -> None:
    tests(GOOD)
    outcome = gpugate("test", "t.yaml", path)
    assert outcome.code == 2
    assert f"ERROR tests: cannot be read\n  {path}:1:1: " in outcome.out
    assert outcome.out.endswith("1 case in 1 suite: 1 passed, 1 error.\n")


def test_cases_can_be_chosen(gpugate: Gpugate) -> None:
    tests(GOOD, BAD)
    assert gpugate("test", "--run", "t/good").code == 0
    assert gpugate("test", "--run", "*d").code == 1


def test_coverage(gpugate: Gpugate) -> None:
    tests(GOOD)
    assert "exercised" not in gpugate("test").out
    outcome = gpugate("test", "--coverage")
    assert outcome.code == 0
    assert (
        "  runtime-class          deny never, repair 1, holds never\n  mesh                   lets through never\n"
        in outcome.out
    )
    assert "3 of 9 outcomes exercised (33 %)\n" in outcome.out
    assert gpugate("test", "--fail-under", "33.3").code == 0
    failed = gpugate("test", "--fail-under", "40")
    assert (failed.code, failed.err) == (1, "Error: 33.3 % of the outcomes are exercised; 40 % are wanted\n")


def test_update(gpugate: Gpugate) -> None:
    pod = POD.replace("true", "false")
    written(Path(), {"policy.yaml": POLICY, "x.yaml": pod, "x.expected.yaml": ""})
    assert gpugate("test").code == 1
    updated = gpugate("test", "--update")
    assert (updated.code, updated.out) == (
        0,
        "updated .: x.yaml\n1 case in 1 suite: 1 updated: look at what changed.\n",
    )
    assert gpugate("test").out == "1 case in 1 suite: 1 passed.\n"


def test_fixtures_without_a_policy_are_said(gpugate: Gpugate) -> None:
    written(Path(), {"p.yaml": POLICY, "x/pass/a.yaml": POD, "x/fail/a.yaml": POD})
    outcome = gpugate("test")
    assert outcome.code == 2
    assert outcome.err == (
        "note: 2 files in folders of fixtures without a policy.yaml not tested, like x/fail/a.yaml; "
        "--policy names one for them\nError: there are no tests in .\n"
    )
    assert gpugate("test", "--policy", "p.yaml").out.endswith("2 cases in 1 suite: 1 passed, 1 failed.\n")


def test_several_outputs(gpugate: Gpugate) -> None:
    tests(GOOD, BAD)
    outcome = gpugate("test", "-o", "text", "-o", "json=t.json", "-o", "junit=t.xml", "--color", "always")
    assert outcome.code == 1
    assert "\x1b[" in outcome.out
    assert json.loads(Path("t.json").read_text())["summary"]["failed"] == 1
    assert ElementTree.parse("t.xml").getroot().get("failures") == "1"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-q", "-v"), "--quiet and --verbose contradict each other"),
        (("-o", "xml"), "there is no format 'xml'; the formats are text, json, junit"),
        (("-o", "json="), "'json=' names no file after the ="),
        (("-o", "json", "-o", "text"), "two results would go to standard output"),
        (("-o", "json=none/x"), "none/x cannot be written"),
        (("--fail-under", "101"), "101.0 is not in the range"),
    ],
)
def test_wrong_usage(gpugate: Gpugate, arguments: tuple[str, ...], said: str) -> None:
    tests(GOOD)
    outcome = gpugate("test", *arguments)
    assert outcome.code == 2
    assert said in outcome.err


def test_the_policies_of_this_project(gpugate: Gpugate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    outcome = gpugate("test", "--fail-under", "100", "policies/")
    assert outcome.code == 0, outcome.out


def test_the_schema_accepts_them(gpugate: Gpugate) -> None:
    import yaml

    schema = gpugate("schema", "--kind", "PolicyTest").json()
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    document = yaml.safe_load((ROOT / "policies" / "tests" / "gpu-pods.yaml").read_text(encoding="utf-8"))
    validator.validate(document)
    first = document["cases"][0]
    wrongs: list[dict[str, object]] = [
        {"obj": 1},
        {"expect": {}},
        {"mode": None},
        {"object": {"file": "a", "apiVersion": "v1"}},
    ]
    for wrong in wrongs:
        assert not validator.is_valid({**document, "cases": [{**first, **wrong}]})
    for right in ({"object": "a"}, {"object": {"file": "a", "name": "b"}}, {"now": "2027-01-31T00:00:00Z"}):
        assert validator.is_valid({**document, "cases": [{**first, **right}]})


def test_it_imports_nothing_of_the_server(folder: Path) -> None:
    tests(GOOD)
    heavy = ("fastapi", "starlette", "uvicorn", "cryptography", "prometheus_client", "kubernetes", "asyncio")
    code = (
        "import sys\nfrom app.cli.main import command\ncommand.main(['test', '-q'], standalone_mode=False)\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    )
    assert done.stdout == "[]\n"
