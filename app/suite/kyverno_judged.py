"""What the policies of a ``kyverno-test.yaml`` say of its resources."""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from app.kyverno.engine import Judging, mutate, validate
from app.kyverno.exceptions import PolicyException
from app.kyverno.expressions import Scope
from app.kyverno.policy import ClusterPolicy
from app.kyverno.types import Operation, Request, RuleResult
from app.suite.kyverno_case import KyvernoSuite
from app.suite.kyverno_inputs import metadata_of

_OPERATION = "request.operation"


class Judged(NamedTuple):
    """The results of one policy's rules for a resource, and the resource after that policy's mutations."""

    results: list[RuleResult]
    after: dict[str, Any] | None


class Judge:
    """Judges resources as Kyverno's command line does: all mutations one after the other, then the validations.

    Each resource is judged once for an operation, whatever the number of rows about it.
    """

    def __init__(
        self,
        suite: KyvernoSuite,
        policies: Sequence[ClusterPolicy],
        exceptions: Sequence[PolicyException],
        scope: Scope,
    ) -> None:
        self._suite = suite
        self._policies = policies
        self._exceptions = exceptions
        self._scope = scope
        self._judged: dict[tuple[int, str | None], dict[str, Judged]] = {}

    def of(self, policy: str, resource: dict[str, Any], operation: str | None) -> Judged:
        """What the policy, which is one of those given, says of a resource."""
        key = id(resource), operation
        if key not in self._judged:
            self._judged[key] = self._all(resource, operation)
        return self._judged[key][policy]

    def _all(self, resource: dict[str, Any], operation: str | None) -> dict[str, Judged]:
        found: dict[str, Judged] = {}
        current = resource
        for policy in self._policies:
            response = mutate(policy, self._judging(policy, current, operation))
            current = response.resource if response.resource is not None else current
            found[policy.key] = Judged(list(response.results), response.resource)
        for policy in self._policies:
            found[policy.key].results.extend(validate(policy, self._judging(policy, current, operation)))
        return found

    def _judging(self, policy: ClusterPolicy, resource: dict[str, Any], operation: str | None) -> Judging:
        values, metadata = self._suite.values, metadata_of(resource)
        name, namespace = str(metadata.get("name", "")), str(metadata.get("namespace") or "")
        everywhere = {**values.everywhere, **values.resources.get((policy.key, name), {})}
        rules = {rule: given for (key, rule), given in values.rules.items() if key == policy.key}
        operation = operation or str(everywhere.get(_OPERATION) or "CREATE")
        deleted = operation == "DELETE"
        request = Request(
            None if deleted else resource,
            old=resource if deleted else None,
            operation=cast("Operation", operation),
            namespace=namespace,
            attributes=self._suite.attributes,
            namespace_labels=values.labels.get(namespace, {}),
            values={"": everywhere, **rules},
            foreach_values={rule: given for (key, rule), given in values.foreach.items() if key == policy.key},
        )
        return Judging(request, self._exceptions, self._scope)
