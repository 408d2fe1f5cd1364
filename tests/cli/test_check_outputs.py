"""The formats of `gpugate check` on real findings."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonpatch
import pytest
import yaml
from jsonschema import Draft4Validator

from app.report.formats import FORMATS
from tests.cli.conftest import Gpugate

SCHEMAS = Path(__file__).parents[3] / "shared" / "schemas"

# Comments, anchors, Windows line ends, letters of three bytes and of four, several documents and a List.
DOCUMENTS = """\
# 🚀 before everything
---
apiVersion: v1
kind: Pod
metadata: {name: one}  # 학습 🚀
spec:
  containers:
    # 🚀🚀 a comment
    - {name: "🚀 a", image: 학습, resources: &gpus {limits: {nvidia.com/gpu: 2}, requests: {nvidia.com/gpu: 1}}}
    - name: b
      image: x
      resources: *gpus
---
apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: c}
  - apiVersion: v1
    kind: Pod
    metadata: {name: two, labels: {"🚀": 𠮷}}
    spec:
      containers:
        - {name: "𠮷野", image: x, securityContext: {privileged: true}, resources: {limits: {nvidia.com/gpu: 1}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: three}
spec: {template: {spec: {containers: [{name: a, image: "𠮷", resources: {limits: {"nvidia.com/gpu": 0.5}}}]}}}
"""


@pytest.fixture
def source(folder: Path) -> str:
    (folder / ".git").mkdir()
    (folder / "k8s").mkdir()
    text = DOCUMENTS.replace("\n", "\r\n")
    (folder / "k8s/학습.yaml").write_bytes(b"\xef\xbb\xbf" + text.encode())
    return text


def sarif_results(text: str) -> Any:
    value = json.loads(text)
    Draft4Validator(json.loads((SCHEMAS / "sarif-schema-2.1.0.json").read_text())).validate(value)
    return value["runs"][0]["results"]


def test_sarif_regions_are_the_fields(check: Gpugate, source: str) -> None:
    lines = source.split("\n")
    shown = []
    for result in sarif_results(check("-o", "sarif", "k8s").out):
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "k8s/%ED%95%99%EC%8A%B5.yaml"
        region = place["region"]
        assert region["startLine"] == region["endLine"]
        text = lines[region["startLine"] - 1][region["startColumn"] - 1 : region["endColumn"] - 1]
        shown.append((result["ruleId"].partition("/")[2], region["startLine"], text))
    assert shown == [
        ("limits-equal-requests", 9, "1"),
        ("limits-equal-requests", 12, "*gpus"),
        ("no-privileged", 25, "true"),
        ("limits-equal-requests", 30, "0.5"),
    ]


def test_every_format_in_one_run(check: Gpugate, source: str, folder: Path) -> None:
    outputs = [f"--output={name}=out.{name}" for name in FORMATS]
    outcome = check(*outputs, "k8s")
    assert (outcome.code, outcome.out, outcome.err) == (1, "", "")
    for name in FORMATS:
        assert (folder / f"out.{name}").read_text() == check("-o", name, "k8s").out.replace("\r\n", "\n")
    pods = json.loads((folder / "out.json").read_text())["pods"]
    refused = sum(not pod["allowed"] for pod in pods)
    cases = ElementTree.parse(folder / "out.junit").getroot().findall("testsuite/testcase")
    assert len(cases) == len(pods) == 3
    assert sum(case.find("failure") is not None for case in cases) == refused == 3
    assert (folder / "out.github").read_text().count("::error file=k8s/학습.yaml,") == 4
    assert {each["location"]["path"] for each in json.loads((folder / "out.gitlab").read_text())} == {"k8s/학습.yaml"}


def test_paths_are_those_of_the_repository(
    check: Gpugate, source: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder / "k8s")
    assert check("-o", "github", ".").out.startswith("::error file=k8s/학습.yaml,line=9,")
    outside = sarif_results(check("-o", "sarif", str(folder / "k8s")).out)
    assert {each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in outside} == {
        "k8s/%ED%95%99%EC%8A%B5.yaml"
    }


def test_line_shifts_change_no_fingerprint(check: Gpugate, source: str, folder: Path) -> None:
    before = json.loads(check("-o", "gitlab", "k8s").out)
    path = folder / "k8s/학습.yaml"
    path.write_bytes(b"# one more\n\n" + path.read_bytes().removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n"))
    after = json.loads(check("-o", "gitlab", "k8s").out)
    assert [each["fingerprint"] for each in before] == [each["fingerprint"] for each in after]
    assert len({each["fingerprint"] for each in before}) == len(before) == 4
    assert [each["location"]["lines"]["begin"] + 2 for each in before] == [
        each["location"]["lines"]["begin"] for each in after
    ]


def test_yaml_is_the_input_with_the_patch_of_json(check: Gpugate, source: str) -> None:
    written = list(yaml.safe_load_all(check("-o", "yaml", "k8s").out))
    pods = json.loads(check("-o", "json", "k8s").out)["pods"]
    plain = list(yaml.safe_load_all(DOCUMENTS))
    first, (config, second), job = plain[0], plain[1]["items"], plain[2]
    assert written == [
        jsonpatch.apply_patch(first, pods[0]["patch"]),
        config,
        jsonpatch.apply_patch(second, pods[1]["patch"]),
        jsonpatch.apply_patch(job, pods[2]["patch"]),
    ]


def test_what_yaml_writes_needs_no_more_changes(check: Gpugate) -> None:
    pod = b"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n"
    pod += b"  - {name: a, image: b, resources: {requests: {nvidia.com/gpu: 1}}}\n"
    written = check("-o", "yaml", "-", stdin=pod)
    again = check("-o", "json", "-", stdin=written.out.encode())
    (entry,) = again.json()["pods"]
    assert entry["findings"] == []
    assert check("-o", "yaml", "-", stdin=written.out.encode()).out == written.out
    assert check("-o", "diff", "-", stdin=written.out.encode()).out == ""


def test_the_caret_is_under_wide_letters(check: Gpugate) -> None:
    line = '  - {name: "학습🚀", securityContext: {privileged: true}, resources: {limits: {nvidia.com/gpu: 1}}}'
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  containers:\n{line}\n"
    shown = check("-", stdin=text.encode()).out.splitlines()
    (number,) = [number for number, each in enumerate(shown) if each.endswith(line)]
    # Each of the three wide letters takes two cells.
    assert shown[number + 1].index("^") == shown[number].index("true") + 3
    assert shown[number + 1].endswith("^^^^")
    assert not shown[number + 1].endswith("^^^^^")
