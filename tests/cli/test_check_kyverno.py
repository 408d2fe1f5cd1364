"""`gpugate check` and `gpugate explain file` under a policy of Kyverno: findings like any others, in every format."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.report.formats import FORMATS
from tests.cli.conftest import Gpugate

POLICY = str(Path(__file__).resolve().parents[1] / "kyverno" / "gpu-resource-policy.yaml")
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: serve, namespace: ml}
spec:
  selector: {matchLabels: {app: serve}}
  template:
    metadata: {labels: {app: serve}}
    spec:
      runtimeClassName: nvidia
      containers:
        - name: engine
          image: vllm/vllm-openai:v0.6.4
          securityContext: {privileged: true}
          resources: {limits: {nvidia.com/gpu: 1}}
"""
PRIVILEGED = "gpu-resource-policy/deny-privileged-gpu-pods"


@pytest.fixture
def said(gpugate: Gpugate, folder: Path) -> Callable[..., str]:
    """What a command on the Deployment prints."""
    (folder / "serve.yaml").write_text(DEPLOYMENT)
    return lambda *arguments: gpugate(*arguments, "--policy", POLICY, "serve.yaml").out


@pytest.mark.parametrize("output", FORMATS)
def test_every_format_has_the_finding(said: Callable[..., str], output: str) -> None:
    assert "deny-privileged-gpu-pods" in said("check", "-o", output) or output in ("yaml", "diff")  # which show changes


def test_the_finding_has_its_place_in_json_and_sarif(said: Callable[..., str]) -> None:
    (finding,) = json.loads(said("check", "-o", "json"))["pods"][0]["findings"]
    assert (finding["policy"], finding["rule"], finding["outcome"]) == (*PRIVILEGED.split("/"), "deny")
    assert (finding["container"], finding["line"]) == ("engine", 13)
    assert finding["pointer"] == "/spec/template/spec/containers/0/securityContext/privileged"
    run: dict[str, Any] = json.loads(said("check", "-o", "sarif"))["runs"][0]
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == PRIVILEGED


def test_explain_file_tells_each_rule(said: Callable[..., str]) -> None:
    steps = [line.strip() for line in said("explain", "file").splitlines() if "Kyverno " in line]
    assert [step.split()[1:3] for step in steps] == [
        ["gpu-resource-policy/require-gpu-limits", "holds"],
        [PRIVILEGED, "violated"],
        ["gpu-resource-policy/require-nvidia-runtimeclass", "holds"],
    ]
