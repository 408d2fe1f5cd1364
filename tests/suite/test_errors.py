"""Everything that can be wrong with a PolicyTest file, and what is said of it: errors.yaml."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from app.policy.schema import API_VERSION
from app.suite.discover import Discovery
from app.suite.schema import PolicyTest

CASES: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("errors.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
@pytest.mark.parametrize("path", [".", "t.yaml"])
def test_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, case: dict[str, Any]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.yaml").write_text(case["file"], encoding="utf-8")
    assert [f"{place}: {message}" for place, message in Discovery([path]).problems] == case["errors"]


def test_the_version_is_that_of_policies() -> None:
    assert PolicyTest.model_json_schema()["properties"]["apiVersion"]["const"] == API_VERSION


@pytest.mark.parametrize(
    "text", ["", "# PolicyTest\n", "kind: Pod\n", "apiVersion: gpugate.dev/v1alpha1\nkind: GpuPolicy\n"]
)
def test_a_file_that_is_named_must_hold_tests(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(text, encoding="utf-8")
    assert Discovery([str(tmp_path)]).problems == []
    problems = [message for _, message in Discovery([str(path)]).problems]
    assert problems == ["holds no PolicyTest (gpugate.dev/v1alpha1)"]
