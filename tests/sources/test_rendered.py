"""What kustomize and Helm render, by the real programs."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from app.documents import Document, read
from app.sources.manifests import Manifest, Manifests, Unreadable
from app.sources.rendered import Chart

Only = Callable[..., None]

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: []}\n"
TEMPLATE = """\
# a comment before everything
{{- if .Values.enabled }}
apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}
  namespace: {{ .Release.Namespace }}
  annotations: {"helm.sh/hook": pre-install}
spec: {containers: [{name: a, image: "{{ .Values.image }}"}]}
{{- end }}
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    files = {
        "base/kustomization.yaml": "resources: [pod.yaml]\n",
        "base/pod.yaml": POD,
        "over/Kustomization": "resources: [../base]\nnamePrefix: x-\n",
        "chart/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n",
        "chart/values.yaml": "enabled: true\nimage: one\n",
        "chart/templates/pod.yaml": TEMPLATE,
        "chart/templates/empty.yaml": "---\n---\n# nothing\n",
        "two.yaml": "image: two\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def chart(path: str = "chart", *values: str) -> list[Chart]:
    return [Chart(path, values, "one", "team-a")]


def objects(found: Manifest | Unreadable) -> list[object]:
    assert isinstance(found, Manifest), found
    documents = list(read(found.content, found.name))
    assert all(isinstance(each, Document) for each in documents), documents
    return [each.value for each in documents if isinstance(each, Document)]


@pytest.mark.parametrize("program", ["kustomize", "kubectl"])
def test_a_kustomization(tree: Path, only: Only, program: str) -> None:
    only(program)
    (found,) = Manifests([], ["over/"])
    (pod,) = objects(found)
    assert pod == {**yaml.safe_load(POD), "metadata": {"name": "x-p"}}
    assert isinstance(found, Manifest)
    assert found[2:] == (True, "over/Kustomization", None)
    assert found.name == "kustomize over/"


@pytest.mark.parametrize("program", ["kustomize", "kubectl"])
def test_a_kustomization_that_cannot_be_built(tree: Path, only: Only, program: str) -> None:
    only(program)
    (tree / "over/Kustomization").write_text("resources: [gone.yaml]\n")
    (found,) = Manifests([], ["over"])
    assert isinstance(found, Unreadable)
    assert found.reason.startswith(f"{program} failed: ")
    assert "gone.yaml" in found.reason
    assert "\n" not in found.reason


def test_a_chart(tree: Path, only: Only) -> None:
    only("helm")
    first, second = (next(iter(Manifests([], [], chart("chart", *values)))) for values in ([], ["two.yaml"]))
    (one,), (two,) = objects(first), objects(second)
    assert isinstance(one, dict)
    assert isinstance(two, dict)
    assert one["metadata"]["name"] == "one"
    assert one["metadata"]["namespace"] == "team-a"
    assert [each["spec"]["containers"][0]["image"] for each in (one, two)] == ["one", "two"]
    assert isinstance(first, Manifest)
    assert first[2:] == (True, "chart/Chart.yaml", "chart")


def test_a_chart_that_renders_nothing(tree: Path, only: Only) -> None:
    only("helm")
    (tree / "off.yaml").write_text("enabled: false\n")
    (found,) = Manifests([], [], chart("chart", "off.yaml"))
    assert objects(found) == []


def test_a_chart_that_cannot_be_rendered(tree: Path, only: Only) -> None:
    only("helm")
    (tree / "chart/templates/pod.yaml").write_text("a: {{ .Values.x.y }}\n")
    (found,) = Manifests([], [], chart())
    assert isinstance(found, Unreadable)
    assert found.reason.startswith("helm failed: ")
    assert "templates/pod.yaml:1" in found.reason


def test_no_program(tree: Path, only: Only) -> None:
    only()
    kustomization, rendered = Manifests([], ["over"], chart())
    assert isinstance(kustomization, Unreadable)
    assert isinstance(rendered, Unreadable)
    assert "neither kustomize nor kubectl on PATH" in kustomization.reason
    assert "no helm on PATH" in rendered.reason
    assert "gpugate check -" in rendered.reason


def test_a_program_that_cannot_be_run(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "bin").mkdir()
    (tree / "bin/helm").write_text("no program")
    (tree / "bin/helm").chmod(0o755)
    monkeypatch.setenv("PATH", str(tree / "bin"))
    (found,) = Manifests([], [], chart())
    assert isinstance(found, Unreadable)
    assert found.reason == "helm cannot be run: Exec format error"


@pytest.mark.parametrize("name", ["none", "oci://registry.example.com/chart", "-x"])
def test_nothing_is_fetched(tree: Path, only: Only, name: str) -> None:
    only("helm", "kustomize")
    for found in Manifests([], [name], chart(name)):
        assert isinstance(found, Unreadable)
        assert found.reason == "cannot be read: No such file or directory"


def test_a_folder_that_looks_like_an_option(tree: Path, only: Only) -> None:
    only("helm", "kustomize")
    (tree / "chart").rename(tree / "-x")
    (tree / "over").rename(tree / "--help")
    kustomization, rendered = Manifests([], ["--help"], chart("-x"))
    assert len(objects(kustomization)) == len(objects(rendered)) == 1


def test_it_is_rendered_once(tree: Path, only: Only, monkeypatch: pytest.MonkeyPatch) -> None:
    only("helm", "kustomize")
    manifests = Manifests([], ["over"], chart())
    first = list(manifests)
    only()
    assert list(manifests) == first
