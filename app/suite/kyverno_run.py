"""Running a ``kyverno-test.yaml``.

Kyverno's own runner counts more as passed than was shown to hold: a row about a rule that says nothing of the resource,
a resource that there is not. Such assertions are ``unproven`` here, each with the reason; they fail nothing, as they
fail nothing there. Source: kyverno cmd/cli/kubectl-kyverno/commands/test/{command,output}.go.
"""

from collections.abc import Iterator
from datetime import datetime
from time import perf_counter
from typing import Any, NamedTuple

from app.kyverno.expressions import Scope
from app.kyverno.types import RuleResult
from app.suite.case import CaseResult, Failure, Status, SuiteResult
from app.suite.differences import differences
from app.suite.kyverno_case import Assertion, KyvernoSuite, Row
from app.suite.kyverno_inputs import Inputs, metadata_of, read_inputs, read_resources
from app.suite.kyverno_judged import Judge, Judged


class _Said(NamedTuple):
    """One thing found: a failure, or (``unproven``) a reason why nothing was shown."""

    message: str
    unproven: bool = False


def run_suite(suite: KyvernoSuite, now: datetime | None) -> SuiteResult:
    """The suite with what came of its assertions; ``now`` is the time, if it is known."""
    if suite.flaws:
        return SuiteResult(suite, None, errors=suite.flaws)
    inputs = read_inputs(suite)
    if inputs.errors:
        return SuiteResult(suite, None, errors=tuple(inputs.errors))
    checks = _Checks(suite, inputs, Scope(now))
    return SuiteResult(suite, None, tuple(_case(checks, case) for case in suite.cases))


def _case(checks: "_Checks", case: Assertion) -> CaseResult:
    start = perf_counter()
    refused = checks.refused(case.row)
    if refused is not None:
        return CaseResult(case, "error", perf_counter() - start, (Failure(case.place, refused),))
    said = list(checks.said(case))
    failed = [each for each in said if not each.unproven]
    status: Status = "failed" if failed else "unproven" if said else "passed"
    failures = tuple(Failure(case.place, each.message) for each in failed or said)
    return CaseResult(case, status, perf_counter() - start, failures)


class _Checks:
    """The assertions of one suite."""

    def __init__(self, suite: KyvernoSuite, inputs: Inputs, scope: Scope) -> None:
        self._inputs = inputs
        self._policies = {policy.key: policy for policy in inputs.policies}
        self._judge = Judge(suite, inputs.policies, inputs.exceptions, scope)
        self._patched: dict[str, tuple[list[dict[str, Any]], list[Failure]]] = {}

    def refused(self, row: Row) -> str | None:
        """Why the row cannot be run; None if it can."""
        if row.policy in self._inputs.refused:
            return f'the policy "{row.policy}" cannot be used: {self._inputs.refused[row.policy]}'
        if row.refused is None and row.policy not in self._policies:
            there = ", ".join(sorted(self._policies)) or "none"
            return f'there is no policy "{row.policy}"; there is {there}'
        return row.refused

    def said(self, case: Assertion) -> Iterator[_Said]:
        """What is not as expected, and what was not shown."""
        row = case.row
        found = self._of_kind(row, self._named(case.resource, row.namespace))
        if not found:
            there = [each for name in row.names for each in self._named(name, row.namespace)]
            if there:
                yield _Said(f"there is no resource {case.resource}, so nothing was checked", unproven=True)
                return
            found = self._of_kind(row, self._inputs.resources) if row.kind else self._inputs.resources
            what = f"there is no {row.kind or 'resource'} {case.resource}"
            if not found:
                yield _Said(f"{what}, so nothing was checked", unproven=True)
                return
            yield _Said(f"{what}; all {len(found)} resources were checked in its place", unproven=True)
        for resource in found:
            yield from self._resource(row, resource)

    def _resource(self, row: Row, resource: dict[str, Any]) -> Iterator[_Said]:
        judged = self._judge.of(row.policy, resource, row.operation)
        label = _label(resource)
        if row.kind and resource.get("kind") != row.kind:
            yield _Said(f"there is no {row.kind} of that name; what was checked is {label}", unproven=True)
        results = [each for each in judged.results if _is_of(each, row.rule)]
        if not results:
            yield _Said(self._silent(row, label), unproven=True)
        for each in results:
            status = "warn" if each.status == "fail" and row.policy in self._inputs.unscored else each.status
            if status != row.result:
                detail = f": {each.message}" if each.message else ""
                yield _Said(f"{label}: found {status} by {each.rule}{detail}; wanted {row.result}")
        if results and row.patched is not None:
            yield from self._compared(row, resource, judged, label)

    def _silent(self, row: Row, label: str) -> str:
        rules = [rule.name for rule in self._policies[row.policy].rules if not rule.generated]
        if row.rule and row.rule not in [name for rule in rules for name in _result_names(rule)]:
            return f'the policy has no rule "{row.rule}", so nothing was checked; it has {", ".join(rules)}'
        return f"{label}: the rule is not for it (not matched, or excluded), so it has no result"

    def _compared(self, row: Row, resource: dict[str, Any], judged: Judged, label: str) -> Iterator[_Said]:
        assert row.patched is not None
        if row.patched not in self._patched:
            errors: list[Failure] = []
            self._patched[row.patched] = read_resources((row.patched,), row.place, errors), errors
        expected, errors = self._patched[row.patched]
        if errors:
            yield from (_Said(f"{each.place}: {each.message}") for each in errors)
            return
        wanted = next((each for each in expected if _same(each, judged.after or resource)), None)
        if wanted is None:
            said = f"{label}: it is not in {row.patched}, so what became of it was not compared"
            yield _Said(said, unproven=not row.patched_must_be_there)
            return
        for pointer, found, want in differences(tidy(judged.after), tidy(wanted), exact=True):
            yield _Said(f"{label}: {pointer or '/'}: found {found}, wanted {want} by {row.patched}")

    def _named(self, name: str, namespace: str) -> list[dict[str, Any]]:
        """The resources with a name; all for ""."""
        if not name:
            return self._inputs.resources
        space, _, own = name.rpartition("/")
        space = space or namespace
        return [
            each
            for each in self._inputs.resources
            if metadata_of(each).get("name") == own and (not space or metadata_of(each).get("namespace") == space)
        ]

    def _of_kind(self, row: Row, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Those of the row's kind, else whatever there is: Kyverno goes by the name alone."""
        return [each for each in found if not row.kind or each.get("kind") == row.kind] or found


def tidy(value: Any) -> Any:
    """The value without what is empty, at any depth; two objects that differ in that only count as the same."""
    if isinstance(value, dict):
        return {key: left for key, item in value.items() if (left := tidy(item)) not in ({}, [], None)}
    if isinstance(value, list):
        return [left for item in value if (left := tidy(item)) not in ({}, [], None)]
    return value


def _is_of(result: RuleResult, rule: str) -> bool:
    return not rule or result.rule in _result_names(rule)


def _result_names(rule: str) -> tuple[str, ...]:
    """The names that the results of a rule have: its own, and those that Kyverno makes of it for controllers."""
    return rule, f"autogen-{rule}", f"autogen-cronjob-{rule}"


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return (one.get("kind"), one.get("apiVersion")) == (other.get("kind"), other.get("apiVersion")) and all(
        metadata_of(one).get(key) == metadata_of(other).get(key) for key in ("name", "namespace")
    )


def _label(resource: dict[str, Any]) -> str:
    metadata = metadata_of(resource)
    name = "/".join(str(part) for part in (metadata.get("namespace"), metadata.get("name")) if part)
    return f"{resource.get('kind')} {name}"
