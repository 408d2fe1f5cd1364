"""A policy of Kyverno costs little more than ours."""

from tests.bench.kyverno import ratio


def test_a_review_costs_at_most_twice_as_much_as_under_the_shipped_policy() -> None:
    assert min(ratio(rounds=5) for _ in range(3)) <= 2
