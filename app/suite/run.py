"""Running suites: every case judged and compared, one after the other."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from time import perf_counter

from app.policy.compiled import Policy
from app.policy.errors import PolicyError
from app.policy.load import load
from app.suite.case import Case, CaseError, CaseResult, Failure, Place, Sources, Suite, SuiteResult
from app.suite.coverage import Coverage
from app.suite.golden import write_golden
from app.suite.kyverno_case import KyvernoSuite
from app.suite.subject import answer


class Runner:
    """Runs suites, and counts what they cover. With ``update`` goldens that differ are rewritten.

    ``now`` is the time for Kyverno's policies; without it, it is not known.
    """

    def __init__(self, sources: Sources, today: date, *, update: bool = False, now: datetime | None = None) -> None:
        self.coverage = Coverage()
        self._sources = sources
        self._today = today
        self._update = update
        self._now = now
        self._policies: dict[tuple[str, ...], Policy | PolicyError] = {}

    def run(self, suites: Iterable[Suite | KyvernoSuite]) -> Iterator[SuiteResult]:
        """The suites with what came of them. One whose policy cannot be loaded is not run."""
        for suite in suites:
            if isinstance(suite, KyvernoSuite):
                from app.suite.kyverno_run import run_suite  # brings the library of its expressions

                yield run_suite(suite, self._now)
                continue
            policy = self._policy(suite.policies)
            if isinstance(policy, PolicyError):
                errors = tuple(Failure(Place(*each[:3]), each.message) for each in policy.problems)
                yield SuiteResult(suite, None, errors=errors)
            else:
                self.coverage.policy(policy)
                yield SuiteResult(suite, policy, tuple(self._case(policy, case) for case in suite.cases))

    def _policy(self, paths: tuple[str, ...]) -> Policy | PolicyError:
        if paths not in self._policies:
            try:
                self._policies[paths] = load([file for path in paths for file in self._sources.policy_files(path)])
            except PolicyError as error:
                self._policies[paths] = error
        return self._policies[paths]

    def _case(self, policy: Policy, case: Case) -> CaseResult:
        start = perf_counter()
        try:
            judged = answer(policy, case.question, self._sources, self._today)
        except CaseError as error:
            return CaseResult(case, "error", perf_counter() - start, (Failure(error.place, error.message),))
        self.coverage.add(judged)
        failures = tuple(case.expectation.failures(judged))
        golden = case.expectation.golden
        wrong = [each for each in failures if golden is not None and each.place.file == golden]
        if self._update and golden is not None and wrong:
            try:
                write_golden(golden, judged.after)
            except OSError as error:
                said = Failure(Place(golden), f"cannot be written: {error.strerror}")
                return CaseResult(case, "error", perf_counter() - start, (said,))
            failures = tuple(each for each in failures if each not in wrong)
            if not failures:
                return CaseResult(case, "updated", perf_counter() - start)
        return CaseResult(case, "failed" if failures else "passed", perf_counter() - start, failures)
