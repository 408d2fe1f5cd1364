"""The tests that the project's own policies come with."""

from pathlib import Path

import pytest

from app.suite.case import Suite
from app.suite.discover import Discovery
from app.suite.run import Runner
from tests.suite.running import SOURCES, TODAY

ROOT = Path(__file__).parents[2]
FOUND = Discovery([str(ROOT / "policies")])


def test_they_can_be_read() -> None:
    assert FOUND.problems == []
    assert FOUND.unused == []


@pytest.mark.parametrize("suite", FOUND.suites, ids=lambda suite: Path(suite.file).name)
def test_suite(suite: Suite) -> None:
    (result,) = Runner(SOURCES, TODAY).run([suite])
    assert result.errors == ()
    assert [(case.case.name, case.failures) for case in result.cases if case.status != "passed"] == []


def test_every_outcome_of_the_shipped_policy_is_exercised() -> None:
    runner = Runner(SOURCES, TODAY)
    assert list(runner.run(suite for suite in FOUND.suites if suite.file.endswith("gpu-pods.yaml")))
    assert [(row.name, row.missed) for row in runner.coverage.rows() if row.missed] == []
