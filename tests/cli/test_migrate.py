"""`gpugate migrate`: files, formats, exit codes."""

import json
from pathlib import Path

import pytest
import yaml

from app.policy.load import load
from tests.cli.conftest import Gpugate
from tests.migrate.rules import ASKS, pattern, policy, rule
from tests.migrate.test_documents import usual


def wrote(*rules: object, name: str = "p.yaml") -> None:
    Path(name).write_text(yaml.safe_dump(policy(*rules), sort_keys=False))  # type: ignore[arg-type]


def test_the_policy_with_the_table_above_it(gpugate: Gpugate) -> None:
    wrote(*usual())
    outcome = gpugate("migrate", "p.yaml")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[:2] == ["# original/require-gpu-limits: better -> rule limits-equal-requests", '#   "limits"']
    assert "# 3 rules: 3 better." in lines
    assert len(load([("p.yaml", outcome.out.encode())]).rules) == 3


def test_formats(gpugate: Gpugate) -> None:
    wrote(*usual(), rule(name="gen", generate={"kind": "ConfigMap"}))
    outcome = gpugate("migrate", "p.yaml", "-o", "text", "-o", "json=p.json", "-o", "yaml=gpu.yaml")
    assert outcome.code == 1
    assert outcome.out.splitlines()[-1] == "4 rules: 3 better, 1 not taken."
    found = json.loads(Path("p.json").read_text())
    assert list(found) == ["version", "tool", "policy", "rules", "additions"]
    assert [each["verdict"] for each in found["rules"]] == ["better", "better", "better", "not taken"]
    assert found["rules"][2]["becomes"] == [{"kind": "rule", "rule": "runtime-class", "with": {"default": "nvidia"}}]
    assert yaml.safe_load(Path("gpu.yaml").read_text()) == found["policy"]


def test_originals_are_written_as_they_were_read(gpugate: Gpugate) -> None:
    wrote(*usual())
    wrote(pattern({"runtimeClassName": "kata"}, ASKS), name="q.yaml")
    assert gpugate("migrate", ".", "-o", "text", "--originals", "../originals.yaml").code == 0
    written = list(yaml.safe_load_all(Path("../originals.yaml").read_text()))
    assert written == [yaml.safe_load(Path(name).read_text()) for name in ("p.yaml", "q.yaml")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give files, or --from-cluster"),
        (("p.yaml", "--from-cluster"), "files and --from-cluster are two ways"),
        (("none.yaml",), "none.yaml cannot be read: No such file or directory"),
        (("broken.yaml",), "broken.yaml:2:1: "),
        (("pod.yaml",), "there is no ClusterPolicy or Policy of Kyverno in pod.yaml"),
        (("p.yaml", "-o", "text", "-o", "json"), "two results would go to standard output; add =FILE to all but one"),
        (("p.yaml", "--originals", "no/such/file"), "no/such/file cannot be written: No such file or directory"),
        (("--from-cluster", "--kubeconfig", "none"), ""),
    ],
)
def test_what_cannot_be_done(gpugate: Gpugate, arguments: tuple[str, ...], message: str) -> None:
    wrote(*usual())
    Path("broken.yaml").write_text("a: [")
    Path("pod.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n")
    outcome = gpugate("migrate", *arguments)
    assert outcome.code == 2
    assert message in outcome.err
    assert "Traceback" not in outcome.err
