""".pre-commit-hooks.yaml: the hook's own command on the files of its types, as pre-commit runs it."""

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.ci.pipelines import BAD, GOOD, environment, load

(HOOK,) = load(".pre-commit-hooks.yaml")
TYPES = {"yaml": (".yaml", ".yml")}


def run_hook(folder: Path, files: list[str], args: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    """pre-commit: the entry, the arguments (those of the user's configuration in their place), the files."""
    suffixes = [suffix for kind in HOOK["types"] for suffix in TYPES[kind]]
    chosen = [file for file in files if file.endswith(tuple(suffixes))]
    command = [*shlex.split(HOOK["entry"]), *(HOOK["args"] if args is None else args), *chosen]
    variables = environment(folder, PATH=f"{Path(sys.executable).parent}:/usr/bin:/bin", PRE_COMMIT="1")
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    files = {"good.yaml": GOOD, "bad.yml": BAD, "values.yaml": "replicas: 2\n", "README.md": "# x\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "gpugate.yaml").write_text(
        "apiVersion: gpugate.dev/v1alpha1\nkind: GpuPolicy\nmetadata: {name: team}\n"
        "spec: {gpus: {presets: [nvidia]}, rules: [{rule: no-privileged}]}\n"
    )
    return tmp_path


def test_a_hook_of_pre_commit() -> None:
    expected: dict[str, Any] = {"id": "gpugate-check", "language": "python", "types": ["yaml"], "require_serial": True}
    assert {key: HOOK[key] for key in expected} == expected


def test_the_policy_at_the_root_judges_what_is_committed(repository: Path) -> None:
    done = run_hook(repository, ["good.yaml", "bad.yml", "values.yaml", "gpugate.yaml", "README.md"])
    assert done.returncode == 1
    assert "bad.yml:9:37: deny team/no-privileged" in done.stdout
    assert "good.yaml" not in done.stdout


def test_nothing_to_find_and_nothing_to_say(repository: Path) -> None:
    done = run_hook(repository, ["good.yaml", "values.yaml", "gpugate.yaml"])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_arguments_of_the_user(repository: Path) -> None:
    done = run_hook(repository, ["bad.yml"], ["--policy", "shipped", "--mode", "warn"])
    assert done.returncode == 0
    assert "admitted, with warnings (mode warn)" in done.stdout
