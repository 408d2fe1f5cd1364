"""What reviews add up to: counted in plain dicts, turned into metrics when somebody asks.

A labelled counter of prometheus_client takes a lock and several calls to add one; a review adds about ten.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, get_args

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

Endpoint = Literal["mutate", "validate", "advise", "namespace"]
"""What a review is sent to: the first step of its path."""

# Reviews take well under a millisecond; webhook timeouts are 1 to 3 s.
BUCKETS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1.0)
"""Upper bounds of the histogram of durations, in seconds."""

_REVIEWS: Final = "Reviews answered. Verdicts: allowed, changed, refused, exempt, error."
_DURATION: Final = "Time to judge a review, from its body to its answer."
_RESULTS: Final = "Findings of rules and injections. Dry runs are not counted."
_CHANGES: Final = "Repairs and injections that were applied. Dry runs are not counted."

# Combinations that are kept before they are added up; what pods hold must not let them grow.
_MOST_ALIKE: Final = 256


class Decision(NamedTuple):
    """What is recorded of an answered review; nothing of what it holds on to is large.

    ``phase`` is the endpoint, ``seconds`` is what judging took, ``results`` are the (policy, rule, outcome) of each
    finding.
    """

    phase: Endpoint
    operation: str
    dry_run: bool
    uid: str
    user: str
    namespace: str
    name: str
    mode: str
    verdict: str
    results: tuple[tuple[str, str, str], ...]
    error: str | None
    seconds: float


class ReviewCounts(Collector):
    """The counts of one server. ``add`` and ``collect`` run in one thread.

    Reviews that are alike in all that is counted, as those of one Deployment's pods are, are added up first.
    """

    def __init__(self) -> None:
        self._alike: dict[tuple[str, str, str, str, bool, tuple[tuple[str, str, str], ...]], int] = defaultdict(int)
        self._reviews: dict[tuple[str, str, str, str, bool], int] = defaultdict(int)
        self._results: dict[tuple[str, str, str, str], int] = defaultdict(int)
        self._changes: dict[tuple[str, str], int] = defaultdict(int)
        endpoints: tuple[Endpoint, ...] = get_args(Endpoint)
        self._durations: dict[Endpoint, list[int]] = {each: [0] * (len(BUCKETS) + 1) for each in endpoints}
        self._seconds: dict[Endpoint, float] = dict.fromkeys(endpoints, 0.0)

    def add(self, decision: Decision) -> None:
        """Count an answered review, and what it found, unless it was a dry run."""
        phase, operation, dry_run, _, _, _, _, mode, verdict, results, _, seconds = decision
        self._alike[phase, mode, operation, verdict, dry_run, results] += 1
        if len(self._alike) > _MOST_ALIKE:
            self._add_up()
        self._durations[phase][bisect_left(BUCKETS, seconds)] += 1
        self._seconds[phase] += seconds

    def _add_up(self) -> None:
        for (phase, mode, operation, verdict, dry_run, results), count in self._alike.items():
            self._reviews[phase, mode, operation, verdict, dry_run] += count
            if dry_run:
                continue
            for policy, rule, outcome in results:
                self._results[policy, rule, mode, outcome] += count
                if verdict == "changed" and outcome in ("repair", "inject"):
                    self._changes[policy, rule] += count
        self._alike.clear()

    def collect(self) -> Iterator[Metric]:
        """The counts as metric families."""
        self._add_up()
        labels = ("endpoint", "mode", "operation", "verdict", "dry_run")
        reviews = CounterMetricFamily("gpugate_reviews", _REVIEWS, labels=labels)
        for (phase, mode, operation, verdict, dry_run), count in self._reviews.items():
            reviews.add_metric((phase, mode, operation, verdict, "true" if dry_run else "false"), count)
        yield reviews
        durations = HistogramMetricFamily("gpugate_review_duration_seconds", _DURATION, labels=("endpoint",))
        for endpoint, counts in self._durations.items():
            total = 0
            buckets = []
            for bound, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
                total += count
                buckets.append((bound, total))
            durations.add_metric((endpoint,), buckets, self._seconds[endpoint])
        yield durations
        results = CounterMetricFamily("gpugate_rule_results", _RESULTS, labels=("policy", "rule", "mode", "outcome"))
        for result, count in self._results.items():
            results.add_metric(result, count)
        yield results
        changes = CounterMetricFamily("gpugate_changes", _CHANGES, labels=("policy", "rule"))
        for change, count in self._changes.items():
            changes.add_metric(change, count)
        yield changes
