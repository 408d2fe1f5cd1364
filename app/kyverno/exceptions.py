"""PolicyExceptions of Kyverno: resources for which rules are skipped."""

from typing import Any, Final, NamedTuple

from app.kyverno.conditions import Conditions, compile_conditions
from app.kyverno.matching import Match, Subject, compile_match
from app.kyverno.shapes import a_list, a_map, only_keys, texts
from app.kyverno.templates import Compiler
from app.kyverno.types import Flaw, InvalidPolicy
from app.kyverno.values import wildcard
from app.kyverno.variables import BUILT_IN, Variables

KIND: Final = "PolicyException"
VERSIONS: Final = ("kyverno.io/v2", "kyverno.io/v2beta1")

_SPEC: Final = ("background", "exceptions", "match", "conditions", "podSecurity")


class PolicyException(NamedTuple):
    """``covers`` are pairs of a policy (``namespace/name`` of a namespaced one) and patterns of its rules' names."""

    name: str
    covers: tuple[tuple[str, tuple[str, ...]], ...]
    match: Match
    conditions: Conditions

    def concerns(self, policy: str, rule: str) -> bool:
        """Whether the exception is about this rule."""
        return any(name == policy and any(wildcard(each, rule) for each in rules) for name, rules in self.covers)

    def holds(self, subject: Subject, variables: Variables) -> bool:
        """Whether it is about this resource too; raises RuleError."""
        return self.match.selects(subject) and self.conditions.hold(variables)


def compile_exception(document: dict[str, Any]) -> PolicyException:
    """The exception that a document is; raises InvalidPolicy."""
    flaws: list[Flaw] = []
    metadata, spec = document.get("metadata"), document.get("spec")
    name = metadata.get("name") if type(metadata) is dict else None
    if not name or type(name) is not str:
        flaws.append(Flaw("/metadata/name", "an exception needs a name"))
    if not a_map(spec, "/spec", flaws, "spec"):
        raise InvalidPolicy(flaws)
    only_keys(spec, _SPEC, "/spec", flaws, "the spec of an exception")
    if spec.get("podSecurity"):
        said = "exceptions from Pod Security Standards (podSecurity) are not supported"
        flaws.append(Flaw("/spec/podSecurity", said, key=True, limit=True))
    covers = []
    for index, item in enumerate(a_list(spec.get("exceptions"), "/spec/exceptions", flaws, "exceptions")):
        at = f"/spec/exceptions/{index}"
        if a_map(item, at, flaws, "an entry of exceptions"):
            only_keys(item, ("policyName", "ruleNames"), at, flaws, "an entry of exceptions")
            rules = texts(item.get("ruleNames"), f"{at}/ruleNames", flaws, "ruleNames")
            covers.append((str(item.get("policyName", "")), rules))
    match = compile_match(spec.get("match"), "/spec/match", flaws, "match")
    compiler = Compiler(flaws, BUILT_IN)
    conditions = compile_conditions(spec.get("conditions"), "/spec/conditions", compiler)
    if flaws:
        raise InvalidPolicy(flaws)
    return PolicyException(str(name), tuple(covers), match, conditions)
