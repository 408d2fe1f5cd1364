"""What holds passes, and what does not hold, or cannot be known to hold, fails: no false green."""

from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from tests.suite.running import POD, Ran, run_case

CASES: dict[str, list[Any]] = yaml.safe_load(Path(__file__).with_name("cases.yaml").read_text(encoding="utf-8"))
REVIEW = """
apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request:
  uid: "1"
  kind: {group: "", version: v1, kind: Pod}
  operation: %s
  namespace: team-b
  object: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: main, image: "main:1"}]}}
"""
FILES = {
    "tame": POD.replace("true", "false"),
    "facts": '{"version": 1, "runtimeClasses": []}',
    "beside": "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: other}\n---" + POD,
    "many": f"{POD}---{POD.replace('name: a', 'name: b')}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\n",
    "empty": "# nothing\n",
    "broken": "a: [\n",
    **{operation.lower(): REVIEW % operation for operation in ("CREATE", "UPDATE", "DELETE")},
}


def shown(case: Any) -> str:
    return orjson.dumps(case, default=str).decode()


def run(folder: Path, case: Any) -> Ran:
    return run_case(folder, shown({"name": "a", "expect": {"allowed": True}, **case}), **FILES)


@pytest.mark.parametrize("case", CASES["holds"], ids=shown)
def test_what_holds(tmp_path: Path, case: Any) -> None:
    ran = run(tmp_path, case)
    assert ran.messages == []
    assert [result.status for result in ran.cases] == ["passed"]


@pytest.mark.parametrize("entry", CASES["fails"], ids=lambda entry: shown(entry["case"]))
def test_what_does_not_hold_fails(tmp_path: Path, entry: Any) -> None:
    ran = run(tmp_path, entry["case"])
    assert [result.status for result in ran.cases] == ["failed"]
    assert any(entry["says"] in found for found in ran.messages), ran.messages
    assert all(found.startswith("t.yaml:6:") for found in ran.messages)


@pytest.mark.parametrize("entry", CASES["errors"], ids=lambda entry: shown(entry["case"]))
def test_what_cannot_be_judged_is_an_error(tmp_path: Path, entry: Any) -> None:
    ran = run(tmp_path, entry["case"])
    assert [result.status for result in ran.cases] == ["error"]
    (message,) = ran.messages
    assert entry["says"] in message.replace(f"{tmp_path}/", "")


def test_a_policy_that_cannot_be_used_runs_nothing(tmp_path: Path) -> None:
    ran = run_case(tmp_path, "{name: a, object: pod.yaml, expect: {allowed: true}}", p="kind: GpuPolicy\n")
    assert ran.cases == []
    assert ran.messages == ["p.yaml:1:1: not a policy: apiVersion is missing, where gpugate.dev/v1alpha1 is expected"]
