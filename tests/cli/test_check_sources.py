"""Where `gpugate check` gets objects from: Helm, kustomize, AdmissionReviews, and YAML as people write it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Gpugate
from tests.controlplane.build import programs_directory as control_plane_programs
from tests.tools import programs_directory

CONTAINER = "{name: a, image: b, resources: {limits: {nvidia.com/gpu: 2}, requests: {nvidia.com/gpu: 1}}}"
POD = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  containers:\n  - {CONTAINER}\n"
TEMPLATE = POD.replace("name: p", 'name: "{{ .Release.Name }}", annotations: {helm.sh/hook: test}')


@pytest.fixture
def tree(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{programs_directory()}:{control_plane_programs()}")
    files = {
        ".git/HEAD": "",
        "charts/llm/Chart.yaml": "apiVersion: v2\nname: llm-server\nversion: 1.0.0\n",
        "charts/llm/templates/pod.yaml": "# {{/* 학습 */}}\n" + TEMPLATE,
        "charts/llm/templates/nothing.yaml": "---\n# {{ .Chart.Name }}\n",
        "charts/llm/charts/sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
        "charts/llm/charts/sub/templates/x.yaml": POD,
        "over/kustomization.yaml": "resources: [pod.yaml]\n",
        "over/pod.yaml": POD,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def places(outcome: Any) -> list[tuple[str, int]]:
    return [(each["location"]["path"], each["location"]["lines"]["begin"]) for each in json.loads(outcome.out)]


def test_a_chart_names_its_templates(check: Gpugate, tree: Path) -> None:
    outcome = check("--chart", "charts/llm", "--release", "run", "-n", "team-a", "-o", "text", "-o", "gitlab=out.json")
    assert outcome.code == 1, outcome
    assert "Pod team-a/run in helm charts/llm, from charts/llm/templates/pod.yaml: refused\n" in outcome.out
    assert "Pod team-a/p in helm charts/llm, from charts/llm/charts/sub/templates/x.yaml: refused\n" in outcome.out
    found = json.loads((tree / "out.json").read_text())
    assert sorted(each["location"]["path"] for each in found) == [
        "charts/llm/charts/sub/templates/x.yaml",
        "charts/llm/templates/pod.yaml",
    ]
    assert all((tree / each["location"]["path"]).exists() for each in found)


def test_helm_output_on_standard_input(check: Gpugate, tree: Path) -> None:
    text = "---\n# Source: llm-server/templates/empty.yaml\n---\n# Source: llm-server/templates/pod.yaml\n" + POD
    outcome = check("-", stdin=text.encode())
    assert "in <stdin>, from llm-server/templates/pod.yaml: refused\n" in outcome.out
    assert "<stdin>:10:" in outcome.out
    assert places(check("-o", "gitlab", "-", stdin=text.encode())) == [("llm-server/templates/pod.yaml", 1)]
    (tree / "rendered.yaml").write_text(text)
    assert places(check("-o", "gitlab", "rendered.yaml")) == [("rendered.yaml", 10)]


def test_a_kustomization(check: Gpugate, tree: Path) -> None:
    outcome = check("-k", "over", "-o", "text", "-o", "gitlab=out.json")
    assert "Pod default/p in kustomize over: refused\n" in outcome.out
    assert json.loads((tree / "out.json").read_text())[0]["location"]["path"] == "over/kustomization.yaml"


def test_everything_at_once(check: Gpugate, tree: Path) -> None:
    outcome = check("-k", "over", "--chart", "charts/llm", "over/pod.yaml", "-", stdin=POD.encode())
    assert outcome.code == 1
    assert outcome.out.count(": refused\n") == 5


def test_a_missing_program_hides_nothing_else(check: Gpugate, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tree))
    outcome = check("--chart", "charts/llm", "-k", "over", "over/pod.yaml")
    assert outcome.code == 2
    assert "Error: helm charts/llm:1:1: there is no helm on PATH" in outcome.err
    assert "Error: kustomize over:1:1: there is neither kustomize nor kubectl on PATH" in outcome.err
    assert "in over/pod.yaml: refused" in outcome.out


# AdmissionReviews


def review(operation: str, new: Any, old: Any = None, **fields: Any) -> bytes:
    request = {
        "uid": "1",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "operation": operation,
        "namespace": "team-a",
        "object": new,
        "oldObject": old,
    }
    body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request | fields}
    return json.dumps(body, indent=1).encode()


def gpu_pod(*, privileged: bool = False, tolerations: Any = (), **metadata: Any) -> Any:
    container = {"name": "a", "image": "b", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    spec = {"runtimeClassName": "nvidia", "containers": [{**container, "securityContext": {"privileged": privileged}}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", **metadata},
        "spec": {**spec, "tolerations": list(tolerations)},
    }


def entries(check: Gpugate, content: bytes) -> Any:
    return check("-o", "json", "-", stdin=content).json()["pods"]


def test_an_update_is_judged_by_what_it_makes_worse(check: Gpugate) -> None:
    good, bad = gpu_pod(), gpu_pod(privileged=True)
    (same,) = entries(check, review("UPDATE", bad, bad))
    assert (same["allowed"], same["findings"], same["patch"], same["gpu"]) == (True, [], [], True)
    (worse,) = entries(check, review("UPDATE", bad, good))
    assert (worse["allowed"], worse["patch"]) == (False, [])
    (finding,) = worse["findings"]
    assert (finding["rule"], finding["pointer"]) == ("no-privileged", "/spec/containers/0/securityContext/privileged")
    line = review("UPDATE", bad, good).decode().splitlines()[finding["line"] - 1]
    assert line.strip() == '"privileged": true'
    (better,) = entries(check, review("UPDATE", good, bad))
    assert better["findings"] == []


def test_an_update_without_its_old_object_is_all_new(check: Gpugate) -> None:
    (entry,) = entries(check, review("UPDATE", gpu_pod(privileged=True)))
    assert not entry["allowed"]
    assert entry["patch"] == []


def test_an_update_of_a_pod_that_is_going(check: Gpugate) -> None:
    going = gpu_pod(privileged=True, deletionTimestamp="2026-12-01T00:00:00Z")
    (entry,) = entries(check, review("UPDATE", going, gpu_pod()))
    assert entry["allowed"]


def test_other_operations(check: Gpugate) -> None:
    (created,) = entries(check, review("CREATE", gpu_pod(privileged=True)))
    assert not created["allowed"]
    assert entries(check, review("DELETE", None, gpu_pod(privileged=True))) == []
    (exempt,) = entries(check, review("UPDATE", gpu_pod(privileged=True), gpu_pod(), namespace="kube-system"))
    assert exempt["exempt"] == "namespace"


# YAML as people write it


def test_anchors_merges_and_the_words_of_yaml_1_1(check: Gpugate) -> None:
    text = f"""\
base: &base
  image: b
---
apiVersion: v1
kind: Pod
metadata: {{name: "on", labels: {{country: "no"}}}}
spec:
  x-shared: &shared {{resources: {{limits: {{nvidia.com/gpu: 010}}, requests: {{nvidia.com/gpu: 8}}}}}}
  containers:
  - name: a
    image: b
    <<: *shared
    securityContext: {{privileged: yes}}
---
{POD.replace("name: p", "name: 한국어")}"""
    outcome = check("-o", "json", "-", stdin=text.encode())
    first, second = outcome.json()["pods"]
    # 010 is 8, and yes is true, for kubectl too.
    assert [(each["rule"], each["line"]) for each in first["findings"] if each["outcome"] == "deny"] == [
        ("no-privileged", 13)
    ]
    assert second["name"] == "한국어"
