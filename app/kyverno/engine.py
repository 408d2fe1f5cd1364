"""apply: what a policy says of a resource, and makes of it. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.kyverno.exceptions import PolicyException
from app.kyverno.expressions.errors import EvaluationError
from app.kyverno.expressions.interpreter import Scope
from app.kyverno.matching import Subject, subject_of
from app.kyverno.policy import ClusterPolicy, Rule, Validation
from app.kyverno.results import Outcome
from app.kyverno.templates import as_text
from app.kyverno.types import Request, Response, RuleError, RuleResult
from app.kyverno.validation import Target
from app.kyverno.variables import Variables, of_request

_ERRORS = (RuleError, EvaluationError)


class Judging:
    """A request and what goes with it: exceptions, and what is known of the time.

    What is asked of it more than once is found once: by what rules match it, and what their variables are.
    """

    __slots__ = ("_subject", "_variables", "exceptions", "request", "scope")

    def __init__(
        self,
        request: Request,
        exceptions: Sequence[PolicyException] = (),
        scope: Scope = Scope(),  # noqa: B008
    ) -> None:
        self.request = request
        self.exceptions = exceptions
        self.scope = scope
        self._subject: Subject | None = None
        self._variables: Variables | None = None

    @property
    def subject(self) -> Subject:
        """By what rules match the request."""
        if self._subject is None:
            self._subject = subject_of(self.request)
        return self._subject

    def variables(self, rule: Rule) -> Variables:
        """The variables of a rule. What expressions yield is shared by the rules that define none of their own."""
        if self.request.values:
            variables = of_request(self.request, rule.name, self.scope)
        else:
            if self._variables is None:
                self._variables = of_request(self.request, rule.name, self.scope)
            variables = self._variables
            if rule.context:
                variables = variables.inner({})
        variables.define(rule.context)
        return variables

    def of(self, request: Request) -> "Judging":
        """The same for another state of the resource."""
        return Judging(request, self.exceptions, self.scope)


def apply(policy: ClusterPolicy, judging: Judging) -> Response:
    """The results of all rules that are for the resource: first those that mutate, each on what the one before made of
    it, then those that validate what came out.

    A rule that is not for the resource has no result.
    """
    mutated = mutate(policy, judging)
    if mutated.resource is not judging.request.resource:
        judging = judging.of(replace(judging.request, resource=mutated.resource))
    return Response(mutated.results + validate(policy, judging), mutated.resource)


def mutate(policy: ClusterPolicy, judging: Judging) -> Response:
    """The results of the rules that mutate, in their order, and the resource after them."""
    results: list[RuleResult] = []
    for rule in _candidates(policy, judging)[0] if judging.request.resource is not None else ():
        result = _result(policy, rule, judging)
        if result is None:
            continue
        results.append(result)
        if result.resource is not None:
            judging = judging.of(replace(judging.request, resource=result.resource))
        if policy.one and result.status in ("pass", "fail"):
            break
    return Response(results, judging.request.resource)


def validate(policy: ClusterPolicy, judging: Judging) -> list[RuleResult]:
    """The results of the rules that validate, in their order."""
    results = []
    for rule in _candidates(policy, judging)[1]:
        result = _result(policy, rule, judging)
        if result is None:
            continue
        results.append(result)
        if policy.one and result.status in ("pass", "fail"):
            break
    return results


def _candidates(policy: ClusterPolicy, judging: Judging) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    subject = judging.subject
    return policy.rules_for(subject.kind, subject.subresource)


def concerns(policy: ClusterPolicy, rule: Rule, subject: Subject) -> bool:
    """Whether the rule is for the resource."""
    return (
        (policy.namespace is None or policy.namespace == subject.namespace)
        and rule.match.selects(subject)
        and not rule.exclude.selects(subject, excluding=True)
    )


def _result(policy: ClusterPolicy, rule: Rule, judging: Judging) -> RuleResult | None:
    if not concerns(policy, rule, judging.subject):
        return None
    request = judging.request
    try:
        variables = judging.variables(rule)
        if not rule.preconditions.hold(variables):
            return RuleResult(policy.name, rule.name, rule.kind, "skip", "preconditions not met")
        exception = _exception(policy, rule, judging, variables)
        if exception is not None:
            said = f'skipped by the exception "{exception.name}"'
            return RuleResult(policy.name, rule.name, rule.kind, "skip", said)
        if rule.mutation is not None:
            assert request.resource is not None
            mutated = rule.mutation.apply(request.resource, variables)
            return RuleResult(policy.name, rule.name, "mutate", mutated.status, mutated.message, "", mutated.resource)
        assert rule.validation is not None
        outcome = _validated(rule, rule.validation, request, variables)
        if outcome.status == "fail" and _old_failed_alike(rule, rule.validation, judging, outcome):
            said = "the object failed before the request as well"
            return RuleResult(policy.name, rule.name, "validate", "skip", said)
        return RuleResult(policy.name, rule.name, "validate", outcome.status, outcome.message, outcome.pointer)
    except _ERRORS as error:
        return RuleResult(policy.name, rule.name, rule.kind, "error", f"cannot be evaluated: {error}")


def _validated(rule: Rule, validation: Validation, request: Request, variables: Variables) -> Outcome:
    given = {**request.foreach_values.get("", {}), **request.foreach_values.get(rule.name, {})}
    target = Target(request.resource, request.resource, deleted=request.resource is None, given=given or None)
    outcome = validation.check.run(target, variables)
    if outcome.status != "fail":
        return outcome
    message = _message(rule, validation, outcome.message, outcome.variables or variables)
    return outcome._replace(message=message, variables=None)


def _message(rule: Rule, validation: Validation, detail: str, variables: Variables) -> str:
    """The policy's own message with what was found; where it cannot be filled in, as it is written."""
    if validation.message is None:
        own = f'rule "{rule.name}" failed'
    else:
        try:
            own = _line(validation.message.render(variables))
        except _ERRORS as error:
            own = f'rule "{rule.name}" failed (its message cannot be filled in: {error})'
    return f"{own} ({detail})" if detail else own


def _line(value: Any) -> str:
    return " ".join(as_text(value).split())


def _old_failed_alike(rule: Rule, validation: Validation, judging: Judging, outcome: Outcome) -> bool:
    """Whether an UPDATE left a violation as it was, which Kyverno lets through unless the rule says otherwise."""
    request = judging.request
    if request.operation != "UPDATE" or request.old is None or not validation.allow_existing:
        return False
    before = judging.of(replace(request, resource=request.old, old=None))
    if not rule.match.selects(before.subject):
        return False
    try:
        variables = before.variables(rule)
        return rule.preconditions.hold(variables) and _validated(rule, validation, before.request, variables) == outcome
    except _ERRORS:
        return False


def _exception(policy: ClusterPolicy, rule: Rule, judging: Judging, variables: Variables) -> PolicyException | None:
    for exception in judging.exceptions:
        if exception.concerns(policy.key, rule.name) and exception.holds(judging.subject, variables):
            return exception
    return None
