"""A review under a ClusterPolicy of Kyverno: `python -m tests.bench.kyverno [POLICY] [--rounds N] [--write]`.

Beside one under the shipped GpuPolicy: both phases, in turns, in one process and without HTTP, as that is the same for
both. Only the ratio counts: machines differ, and move.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Final

import orjson

from app.admission.review import read_request
from app.admission.webhook import review
from app.model.context import Context
from app.policy.compiled import Policy
from app.policy.load import load
from app.sources.policies import policy_files
from tests.bench.page import machine, today, write_section

SEED: Final = Path(__file__).resolve().parents[1] / "kyverno" / "gpu-resource-policy.yaml"
BODY: Final = Path(__file__).with_name("review.json")
_REVIEWS: Final = 200


def reviews(policy: Policy) -> Callable[[], None]:
    """A function that answers one review in both phases, as the server does."""
    body = BODY.read_bytes()

    def both() -> None:
        for phase in ("mutate", "validate"):
            request = read_request(orjson.loads(body))
            review(policy, phase, "enforce", request, Context(request.namespace))

    return both


def ratio(policy: Path = SEED, rounds: int = 15) -> float:
    """The CPU time of reviews under the policy by that under the shipped one: the median of interleaved rounds."""
    own, shipped = (reviews(load(policy_files(str(path)))) for path in (policy, "shipped"))
    found = []
    for _ in range(rounds):
        spent = [_spent(each) for each in (own, shipped)]
        found.append(spent[0] / spent[1])
    return median(found)


def _spent(call: Callable[[], None]) -> float:
    start = process_time()
    for _ in range(_REVIEWS):
        call()
    return process_time() - start


def main() -> int:
    """Print the ratio."""
    parser = argparse.ArgumentParser(
        description="What a review costs under a policy of Kyverno, beside the shipped one"
    )
    parser.add_argument("policy", nargs="?", type=Path, default=SEED)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--write", action="store_true", help="keep the ratio in docs/benchmarks.md")
    arguments = parser.parse_args()
    found = ratio(arguments.policy, arguments.rounds)
    print(f"a review under {arguments.policy.name} costs {found:.2f} times one under the shipped GpuPolicy")
    if arguments.write:
        write_section("Kyverno's policies", section(arguments.policy, found, arguments.rounds))
    return 0


def section(policy: Path, found: float, rounds: int) -> str:
    """What is kept of a run."""
    return f"""
What a review costs under a ClusterPolicy of Kyverno (`tests/kyverno/{policy.name}`: three rules with preconditions and
patterns), in both phases, beside one under the shipped GpuPolicy, without HTTP.

Latest run, {today()}: the median of {rounds} interleaved rounds: {found:.2f} times as much; 2 at most are wanted.

{machine("jmespath", "orjson")}.
"""


if __name__ == "__main__":
    raise SystemExit(main())
