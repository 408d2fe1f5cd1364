"""docs/ci.md: what it shows to copy works."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ci.pipelines import BAD, GOOD, ROOT, environment, load
from tests.engine.policies import POLICIES, SHIPPED
from tests.replay.cluster import Cluster
from tests.support.cluster import gpu_pod
from tests.tools import programs_directory

PAGE = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FILES = {
    name: yaml.safe_load(text)
    for name, text in re.findall(r"^```yaml\n# (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
}
PINNED = re.compile(r"[^@]+@[0-9a-f]{40}")
TEST = """\
apiVersion: gpugate.dev/v1alpha1
kind: PolicyTest
metadata: {name: team}
policies: [gpugate.yaml]
cases:
  - name: a GPU pod is let in
    object: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: "a:1"}]}}
    expect: {allowed: true}
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """What the blocks speak of. Argo CD and Flux need a cluster: here they print a pod."""
    policy = SHIPPED.read_text()
    files = {
        "gpugate.yaml": policy,
        "policies/gpugate.yaml": policy,
        "policies/team-test.yaml": TEST,
        "charts/trainer/Chart.yaml": "apiVersion: v2\nname: trainer\nversion: 1.0.0\n",
        "charts/trainer/templates/pod.yaml": GOOD.replace("name: good", "name: {{ .Values.name }}"),
        "charts/trainer/production.yaml": "name: good\n",
        "overlays/production/kustomization.yaml": "resources: [pod.yaml]\n",
        "overlays/production/pod.yaml": GOOD,
        "deploy/pod.yaml": GOOD,
        "legacy/pod.yaml": BAD,
        "bin/argocd": f"#!/bin/sh\ncat <<'END'\n{GOOD}END\n",
        "bin/flux": f"#!/bin/sh\ncat <<'END'\n{GOOD}END\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in ("argocd", "flux"):
        (tmp_path / "bin" / name).chmod(0o755)
    cluster = Cluster(POLICIES["shipped"], "enforce", tmp_path / "recorded")
    cluster.create(gpu_pod())
    cluster.close()
    return tmp_path


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.split("\n")[0] for script in SCRIPTS])
def test_a_block_of_shell(script: str, repository: Path) -> None:
    path = f"{repository}/bin:{Path(sys.executable).parent}:{programs_directory()}:/usr/bin:/bin"
    variables = environment(repository, PATH=path, CI_COMMIT_SHA="0" * 40)
    command = ["bash", "-euo", "pipefail", "-c", script]
    done = subprocess.run(command, cwd=repository, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"1 (pod|case)", done.stdout)


def test_the_workflow_of_github() -> None:
    workflow = FILES[".github/workflows/gpugate.yaml"]
    action = load("deploy/ci/github/action.yml")
    steps: list[dict[str, Any]] = workflow["jobs"]["check"]["steps"]
    assert all(PINNED.fullmatch(step["uses"]) for step in steps)
    (own,) = [step for step in steps if "your-org/gpugate" in step["uses"]]
    assert (ROOT / own["uses"].partition("@")[0].removeprefix("your-org/gpugate/") / "action.yml").is_file()
    assert own["with"].keys() <= action["inputs"].keys()
    outputs = set(re.findall(rf"steps\.{own['id']}\.outputs\.(\w+)", str(steps)))
    assert outputs == action["outputs"].keys()


def test_the_inputs_of_the_action_have_rows() -> None:
    inputs = load("deploy/ci/github/action.yml")["inputs"]
    assert re.findall(r"^\| `([a-z-]+)` \|", PAGE, re.MULTILINE) == list(inputs)


def test_the_pipeline_of_gitlab() -> None:
    pipeline = FILES[".gitlab-ci.yml"]
    (include,) = pipeline["include"]
    template = load(include["file"])
    assert pipeline["gpugate"]["variables"].keys() <= template["gpugate"]["variables"].keys()


def test_the_configuration_of_pre_commit() -> None:
    (repo,) = FILES[".pre-commit-config.yaml"]["repos"]
    known = {hook["id"] for hook in load(".pre-commit-hooks.yaml")}
    assert {hook["id"] for hook in repo["hooks"]} == known
