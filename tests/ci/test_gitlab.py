"""deploy/ci/gitlab/gpugate.yml, line by line, as GitLab's runner would run it."""

import json
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.ci.pipelines import BAD, GOOD, bash, checkout, environment, gpugate_repository, load

JOB: dict[str, Any] = load("deploy/ci/gitlab/gpugate.yml")["gpugate"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """gpugate's own repository."""
    return gpugate_repository(tmp_path_factory.mktemp("source") / "gpugate")


def job(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    script = "\n".join([*JOB["before_script"], *JOB["script"]])
    return bash(script, folder, environment(folder.parent, **{**JOB["variables"], **variables}))


def test_the_job_reports_and_fails(source: Path, tmp_path: Path) -> None:
    folder = checkout(tmp_path / "project", {"deploy/bad.yaml": BAD, "jobs/good.yaml": GOOD})
    done = job(folder, GPUGATE_REPOSITORY=source.as_uri(), GPUGATE_POLICY="shipped", GPUGATE_PATHS="deploy jobs")
    assert done.returncode == 1, done.stderr
    assert done.stderr == ""
    assert "2 pods (2 with GPUs) in 2 files: 1 refused, 1 changed." in done.stdout
    reports = JOB["artifacts"]["reports"]
    quality = json.loads((folder / reports["codequality"]).read_text())
    (found,) = [each for each in quality if each["check_name"].endswith("no-privileged")]
    assert (found["location"]["path"], found["location"]["lines"]["begin"]) == ("deploy/bad.yaml", 9)
    assert ET.parse(folder / reports["junit"]).getroot().iter("failure").__next__() is not None
    assert set(JOB["artifacts"]["paths"]) == set(reports.values())
    assert JOB["artifacts"]["when"] == "always"


def test_the_job_says_what_it_needs(tmp_path: Path) -> None:
    folder = checkout(tmp_path / "project", {"a.yaml": GOOD})
    done = job(folder)
    assert done.returncode == 2
    assert "set GPUGATE_REPOSITORY" in done.stderr
