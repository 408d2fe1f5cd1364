"""A policy of Kyverno costs little more than ours, and nothing where there is none."""

import subprocess
import sys

from tests.bench.kyverno import ratio

LOADED = """
import sys
from app.policy.load import load
from app.sources.policies import policy_files
import app.admission.judge, app.admission.webhook
load(policy_files("shipped"))
print([name for name in sys.modules if name.startswith(("app.kyverno", "jmespath"))])
"""


def test_a_review_costs_at_most_twice_as_much_as_under_the_shipped_policy() -> None:
    assert min(ratio(rounds=5) for _ in range(3)) <= 2


def test_a_policy_without_kyvernos_documents_does_not_import_their_engine() -> None:
    result = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"
