"""`gpugate scan` on a real API server: formats, exit codes, and what is said when the cluster cannot be read."""

import json
import re
from pathlib import Path

import pytest

from app.report.snapshot import Snapshot
from tests.cli.conftest import Gpugate
from tests.controlplane import ControlPlane
from tests.support.apiproxy import write_kubeconfig
from tests.support.cluster import MODE_LABEL, nvidia_runtime_class
from tests.support.workloads import BAD, CPU, GOOD, create, deployment, pod


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> ControlPlane:
    nvidia_runtime_class(control_plane)
    return control_plane


@pytest.fixture(scope="module")
def namespace(plane: ControlPlane) -> str:
    """A namespace in enforce, with one workload that is refused, one that is changed, and one without GPUs."""
    made = plane.namespace("scanned", {MODE_LABEL: "enforce"})
    create(plane, made, deployment("bad", BAD, 0), deployment("good", GOOD, 0), pod("web", CPU))
    return made


@pytest.fixture
def scan(gpugate: Gpugate, plane: ControlPlane) -> Gpugate:
    """Run ``gpugate scan`` with the shipped policy as the administrator."""
    return lambda *arguments: gpugate("scan", "--policy", "shipped", "--kubeconfig", str(plane.kubeconfig), *arguments)


def test_text(scan: Gpugate, namespace: str) -> None:
    outcome = scan("-n", namespace)
    assert outcome.code == 1
    assert outcome.err == ""
    lines = outcome.out.splitlines()
    assert lines[0] == f"Deployment {namespace}/bad: refused"
    assert lines[1].startswith(
        '  /spec/template/spec/containers/0/securityContext/privileged: deny gpu-pods/no-privileged: container "main"'
    )
    assert f"Deployment {namespace}/good: admitted, changed" in lines
    assert (
        '  /spec/template/spec/runtimeClassName: + runtimeClassName set to "nvidia" (gpu-pods/runtime-class)' in lines
    )
    assert lines[-1] == "3 pod templates (2 with GPUs) in 1 namespace: 1 refused, 1 changed."


def test_another_mode_and_what_fails_the_run(scan: Gpugate, namespace: str) -> None:
    warned = scan("-n", namespace, "--mode", "warn")
    assert warned.code == 0
    assert f"Deployment {namespace}/bad: admitted, with warnings (mode warn)" in warned.out
    assert scan("-n", namespace, "--mode", "warn", "--fail-on", "warn").code == 1
    assert scan("-n", namespace, "--fail-on", "none").code == 0
    disabled = scan("-n", namespace, "--mode", "disabled", "-v")
    assert disabled.out.count("not looked at, as the mode is disabled") == 3


def test_json_has_no_lines(scan: Gpugate, namespace: str) -> None:
    found = scan("-n", namespace, "-o", "json").json()
    pods = {each["name"]: each for each in found["pods"]}
    assert set(pods) == {"bad", "good", "web"}
    bad = pods["bad"]
    assert (bad["file"], bad["line"], bad["allowed"], bad["mode"]) == (
        f"{namespace}/Deployment/bad", None, False, "enforce",
    )  # fmt: skip
    assert {(each["line"], each["endColumn"]) for each in bad["findings"]} == {(None, None)}
    assert found["summary"]["files"] == 1
    assert found["summary"]["refused"] == 1


@pytest.mark.parametrize("name", ["sarif", "junit", "github", "gitlab"])
def test_formats_for_ci(scan: Gpugate, namespace: str, name: str) -> None:
    outcome = scan("-n", namespace, "-o", name)
    assert outcome.code == 1
    assert f"{namespace}/Deployment/bad" in outcome.out
    assert "no-privileged" in outcome.out


def test_yaml_and_diff_are_of_what_changes(scan: Gpugate, namespace: str) -> None:
    written = scan("-n", namespace, "-o", "yaml").out
    assert written.startswith(f"---\n# Source: {namespace}/Deployment/bad\n# Refused: gpu-pods/no-privileged")
    assert f"# Source: {namespace}/Deployment/good\n" in written
    assert "name: web" not in written
    assert "managedFields" not in written
    assert "resourceVersion" not in written
    diff = scan("-n", namespace, "-o", "diff").out
    assert f"--- {namespace}/Deployment/good\tDeployment {namespace}/good" in diff
    assert "+      runtimeClassName: nvidia" in diff


def test_a_snapshot_beside_the_text(scan: Gpugate, namespace: str, plane: ControlPlane) -> None:
    outcome = scan("-n", namespace, "-o", "text", "-o", "snapshot=seen.json")
    assert outcome.out.startswith(f"Deployment {namespace}/bad")
    snapshot = Snapshot.from_json(Path("seen.json").read_bytes())
    assert (snapshot.cluster.context, snapshot.cluster.server) == ("test", plane.url)
    assert [each.name for each in snapshot.policies] == ["gpu-pods"]
    (state,) = snapshot.namespaces
    assert [(each.name, each.state) for each in state.workloads] == [("bad", "refused"), ("good", "changed")]
    alone = scan("-n", namespace, "-o", "snapshot")
    assert json.loads(alone.out)["version"] == 1


def test_a_snapshot_that_cannot_be_written(scan: Gpugate, namespace: str) -> None:
    outcome = scan("-n", namespace, "-o", "snapshot=no/such/folder.json")
    assert outcome.code == 2
    assert outcome.err == "Error: no/such/folder.json cannot be written: No such file or directory\n"


def test_a_namespace_that_is_not_there(scan: Gpugate) -> None:
    outcome = scan("-n", "gone")
    assert outcome.code == 2
    assert outcome.err == 'Error: cluster: namespaces "gone" was not found in the cluster of context "test"\n'
    assert outcome.out == "No pod templates in 0 namespaces; 1 error: not everything was judged.\n"


def test_a_cluster_that_is_not_there(gpugate: Gpugate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.cluster.transport._FIRST_PAUSE", 0.01)
    config = write_kubeconfig(tmp_path / "config", {"server": "https://127.0.0.1:1"}, {})
    outcome = gpugate("scan", "--policy", "shipped", "--kubeconfig", str(config))
    assert outcome.code == 2
    assert outcome.err == (
        'Error: cluster: the cluster of context "test" cannot be reached at https://127.0.0.1:1: connection refused\n'
    )


def test_no_kubeconfig(gpugate: Gpugate) -> None:
    outcome = gpugate("scan", "--policy", "shipped", "--kubeconfig", "none.yaml")
    assert (outcome.code, outcome.err) == (2, "Error: there is no kubeconfig none.yaml\n")


def test_an_expired_token(gpugate: Gpugate, plane: ControlPlane, tmp_path: Path) -> None:
    secure = {"server": plane.url, "certificate-authority": str(plane.certificate_authority)}
    config = write_kubeconfig(tmp_path / "config", secure, {"token": "ended"})
    outcome = gpugate("scan", "--policy", "shipped", "--kubeconfig", str(config))
    assert outcome.code == 2
    assert "does not accept the credentials (401): the token or certificate has expired" in outcome.err


def test_progress_on_a_terminal(scan: Gpugate, namespace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.cli.looking._PROGRESS_EVERY", 0)
    assert scan("-n", namespace).err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert re.search(r"^\d+ objects in 1 namespaces \.\.\.$", scan("-n", namespace).err, re.MULTILINE)
    assert scan("-n", namespace, "-q").err == ""


def test_wrong_usage(scan: Gpugate) -> None:
    assert "contradict" in scan("-q", "-v").err
    assert "there is no format 'xml'" in scan("-o", "xml").err
    assert scan("-o", "json", "-o", "text").code == 2
