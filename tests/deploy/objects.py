"""The objects of each way to install gpugate, in a form in which they can be compared."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import yaml
from click.testing import CliRunner

from app.cli.main import command as gpugate
from tests.controlplane.build import KUBERNETES_VERSION
from tests.tools import programs_directory

ROOT: Final = Path(__file__).parents[2]
CHART: Final = ROOT / "deploy/helm/gpugate"
KUSTOMIZE: Final = ROOT / "deploy/kustomize"
CRDS: Final = ROOT.parent / "shared/crds"

_HELMS_LABELS: Final = ("app.kubernetes.io/managed-by", "app.kubernetes.io/version", "helm.sh/chart")

Objects = list[dict[str, Any]]


def manifests(*arguments: str, policy: Path | str = "shipped") -> Objects:
    """What `gpugate manifests --install` prints."""
    result = CliRunner().invoke(gpugate, ["manifests", "--policy", str(policy), "--install", *arguments])
    assert result.exit_code == 0, result.output
    return loaded(result.stdout)


def helm(*arguments: str, namespace: str = "gpugate") -> Objects:
    """What `helm template` prints."""
    return loaded(helm_text(*arguments, namespace=namespace))


def helm_text(*arguments: str, namespace: str = "gpugate") -> str:
    version = ("--kube-version", KUBERNETES_VERSION)
    return run("helm", "template", "gpugate", str(CHART), "--namespace", namespace, *version, *arguments)


def kustomize(folder: Path) -> Objects:
    """What `kustomize build` prints."""
    return loaded(run("kustomize", "build", str(folder)))


def run(program: str, *arguments: str) -> str:
    """The output of one of the tools, which must succeed."""
    result = tool(program, *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def tool(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The finished tool."""
    command = [str(programs_directory() / program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def loaded(text: str) -> Objects:
    """The objects of YAML documents."""
    return [obj for obj in yaml.safe_load_all(text) if obj]


def comparable(objects: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The objects by what they are, without what Helm adds, policies as what they say."""
    found = {}
    for obj in objects:
        metadata = obj["metadata"]
        key = "/".join((obj["kind"], metadata.get("namespace", ""), metadata["name"]))
        assert key not in found, f"{key} stands there twice"
        labels = {name: value for name, value in metadata["labels"].items() if name not in _HELMS_LABELS}
        found[key] = {**obj, "metadata": {**metadata, "labels": labels}}
        if obj["kind"] == "ConfigMap":
            found[key]["data"] = {name: yaml.safe_load(text) for name, text in obj["data"].items()}
    return found
