"""`--baseline` and `--write-baseline`."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Gpugate

WRONG = """\
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  containers:
  - {name: a, image: b, resources: {limits: {nvidia.com/gpu: 2}, requests: {nvidia.com/gpu: 1}}}
"""


def pods(*names: str) -> str:
    return "---\n".join(WRONG.replace("NAME", name) for name in names)


@pytest.fixture(autouse=True)
def known(check: Gpugate, folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / "k8s").mkdir()
    (folder / "k8s/a.yaml").write_text(pods("one", "two"))
    outcome = check("--write-baseline", "known.json", "-o", "json=out.json", "k8s")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == "Note: known.json holds 2 findings that are known from now on\n"


def test_what_is_known_does_not_fail(check: Gpugate, folder: Path) -> None:
    outcome = check("--baseline", "known.json", "k8s")
    assert (outcome.code, outcome.err) == (0, "")
    assert "deny" not in outcome.out
    assert "Pod default/one in k8s/a.yaml: refused, as is known\n" in outcome.out
    assert outcome.out.endswith("2 refused; 2 findings known from the baseline.\n")
    assert check("k8s").code == 1


def test_lines_and_paths_may_be_written_otherwise(
    check: Gpugate, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "k8s/a.yaml").write_text(
        "# more\n\n" + pods("two", "one").replace("nvidia.com/gpu: 2", "nvidia.com/gpu: 3")
    )
    monkeypatch.chdir(folder / "k8s")
    assert check("--baseline", "../known.json", "./a.yaml").code == 0


def test_what_is_new_fails(check: Gpugate, folder: Path) -> None:
    (folder / "k8s/b.yaml").write_text(pods("one"))
    outcome = check("--baseline", "known.json", "k8s")
    assert outcome.code == 1
    assert outcome.out.count(": deny ") == 1
    assert "k8s/b.yaml:6:" in outcome.out
    assert check("--baseline", "known.json", "-o", "github", "k8s").out.count("::error") == 1


def test_what_is_mended_is_said(check: Gpugate, folder: Path) -> None:
    (folder / "k8s/a.yaml").write_text(pods("two"))
    outcome = check("--baseline", "known.json", "k8s")
    assert outcome.code == 0
    first, last = outcome.err.splitlines()
    assert first.startswith(
        "Note: the baseline knows what is there no more: k8s/a.yaml: Pod default/one: gpu-pods/limits"
    )
    assert last == "Note: --write-baseline leaves out what is mended"
    check("--baseline", "known.json", "--write-baseline", "known.json", "k8s")
    assert check("--baseline", "known.json", "k8s").err == ""


def test_a_run_over_a_part_calls_nothing_mended(check: Gpugate, folder: Path) -> None:
    (folder / "k8s/b.yaml").write_text("kind: ConfigMap\napiVersion: v1\n")
    assert check("--baseline", "known.json", "k8s/b.yaml").err == ""
    (folder / "k8s/a.yaml").unlink()
    assert check("--baseline", "known.json", "k8s/b.yaml").err.count("there no more") == 2


def test_no_baseline_is_written_of_a_part(check: Gpugate, folder: Path) -> None:
    before = (folder / "known.json").read_text()
    (folder / "k8s/b.yaml").write_text("a: [")
    assert check("--write-baseline", "known.json", "k8s").code == 2
    assert (folder / "known.json").read_text() == before
    assert check("--write-baseline", "no/such/folder", "k8s/a.yaml").code == 2


def test_every_format_says_what_is_known(check: Gpugate) -> None:
    def run(name: str) -> str:
        return check("--baseline", "known.json", "-o", name, "k8s").out

    assert json.loads(run("json"))["summary"]["known"] == 2
    assert all("suppressions" in each for each in json.loads(run("sarif"))["runs"][0]["results"])
    assert {each["severity"] for each in json.loads(run("gitlab"))} == {"info"}
    assert run("github") == ""
    assert 'failures="0"' in run("junit")


def test_changes_are_known_where_they_fail(check: Gpugate) -> None:
    assert check("--baseline", "known.json", "--fail-on", "change", "k8s").code == 0  # refused pods are not changed
    changed = pods("three").replace("requests: {nvidia.com/gpu: 1}", "requests: {nvidia.com/gpu: 2}").encode()
    assert check("--fail-on", "change", "-", stdin=changed).code == 1
    check("--write-baseline", "changes.json", "--fail-on", "change", "-", stdin=changed)
    assert check("--baseline", "changes.json", "--fail-on", "change", "-", stdin=changed).code == 0
