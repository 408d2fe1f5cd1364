"""Kyverno's own sample policies with their tests, which Kyverno 1.19.0 passes. They lie beside the project, not in it.

Where they are required (``GPUGATE_REQUIRE_CONTROL_PLANE``, ``CI``) their absence is a failure.
"""

import os
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from tests.suite.running import Ran, ran

FOLDER: Final = Path(__file__).parents[3] / "shared" / "conformance" / "kyverno-policies"
# What its README and Kyverno's own runner count.
TESTS, ASSERTIONS = 89, 1264
# The rule selects by a label that the resource lacks, so it has no result, whatever the row expects.
_RULE: Final = "kasten-data-protection-by-label"
UNPROVEN: Final = {f"{_RULE}/{_RULE}/Deployment/nginx-deployment-skipped": "the rule is not for it"}


def required() -> bool:
    return bool(os.environ.get("CI") or os.environ.get("GPUGATE_REQUIRE_CONTROL_PLANE"))


@pytest.fixture(scope="module")
def result() -> Ran:
    if not FOLDER.is_dir():
        said = f"Kyverno's sample policies are not at {FOLDER}"
        if required():
            pytest.fail(said)
        pytest.skip(said)
    return ran([FOLDER])


def test_every_assertion_holds(result: Ran) -> None:
    wrong = [
        f"{case.case.name}: {case.status}: {'; '.join(each.message for each in case.failures)}"
        for case in result.cases
        if case.status not in ("passed", "unproven")
    ]
    assert wrong == []
    assert [suite.suite.name for suite in result.suites if suite.errors] == []
    assert (result.problems, len(result.suites), len(result.cases)) == ([], TESTS, ASSERTIONS)


def test_what_is_unproven_is_known(result: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    found = {case.case.name: case.failures[0].message for case in result.cases if case.status == "unproven"}
    assert found.keys() == UNPROVEN.keys()
    for name, reason in UNPROVEN.items():
        assert reason in found[name]
    with capsys.disabled():
        counts = Counter(case.status for case in result.cases)
        print(f"\nKyverno's sample policies: {', '.join(f'{count} {status}' for status, count in counts.items())}")
        print("".join(f"  unproven: {name}: {reason}\n" for name, reason in found.items()), end="")
