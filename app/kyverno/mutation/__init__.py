"""``mutate``: what a rule makes of a resource."""

from typing import Any, Protocol

from app.kyverno.templates import Compiler
from app.kyverno.types import Flaw, Mutated
from app.kyverno.variables import Variables


class Mutation(Protocol):
    """A compiled ``mutate``."""

    def apply(self, resource: dict[str, Any], variables: Variables) -> Mutated:
        """What it makes of the resource, which is not changed itself; raises RuleError and EvaluationError."""


def compile_mutation(value: Any, pointer: str, compiler: Compiler) -> Mutation:  # noqa: ARG001
    """The mutation of a rule; what is wrong with it goes to the compiler's flaws."""
    compiler.flaws.append(Flaw(pointer, "mutate is not supported", key=True, limit=True))
    return _Nothing()


class _Nothing:
    def apply(self, resource: dict[str, Any], variables: Variables) -> Mutated:  # noqa: ARG002
        return Mutated("skip", "", None)
