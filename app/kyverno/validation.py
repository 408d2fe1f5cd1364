"""``validate``: pattern, anyPattern, deny, and these for each element of a list.

Source: kyverno pkg/engine/handlers/validation/validate_resource.go.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from app.kyverno.conditions import ALWAYS, Conditions, compile_conditions
from app.kyverno.contexts import compile_context, names_of
from app.kyverno.expressions.errors import EvaluationError
from app.kyverno.patterns import Mismatch, Pattern, compile_pattern
from app.kyverno.results import PASSED, Outcome, said
from app.kyverno.shapes import a_list, a_map, only_keys
from app.kyverno.templates import Compiler, Template, as_text
from app.kyverno.types import Flaw, RuleError
from app.kyverno.variables import Entry, Variables
from app.model.patch import escape

FOREACH: Final = ("list", "elementScope", "context", "preconditions", "pattern", "anyPattern", "deny", "foreach")
CHECKS: Final = ("pattern", "anyPattern", "deny", "foreach")
UNSUPPORTED: Final = {
    "cel": "CEL expressions",
    "podSecurity": "Pod Security Standards by name",
    "manifests": "signatures of manifests",
    "assert": "assertion trees",
}


@dataclass(frozen=True, slots=True)
class Target:
    """What is checked: the resource, or the element of a foreach (``scoped``), and where that is in the resource.

    ``deleted``: the resource is being deleted, so that there is nothing to hold patterns against. ``given`` are
    values for the elements of a foreach by name; ``places`` is where each thing in the resource stands, once known.
    """

    value: Any
    resource: dict[str, Any] | None
    scoped: bool = False
    pointer: str = ""
    deleted: bool = False
    given: Mapping[str, list[Any]] | None = None
    places: Mapping[int, str] | None = None


class _Pattern(NamedTuple):
    """A pattern; compiled for good if it has no variables."""

    template: Template
    compiled: Pattern | None

    def of(self, variables: Variables) -> Pattern:
        return self.compiled or compile_pattern(self.template.render(variables))


class Check(NamedTuple):
    """What ``validate``, or one entry of its foreach, asks: exactly one of its parts."""

    deny: Conditions | None = None
    pattern: _Pattern | None = None
    any_pattern: tuple[_Pattern, ...] | None = None
    foreach: "tuple[ForEach, ...] | None" = None

    def run(self, target: Target, variables: Variables, nesting: int = 0) -> Outcome:
        """The outcome; raises RuleError and EvaluationError."""
        if self.deny is not None:
            messages = self.deny.messages(variables)
            if messages is None:
                return PASSED
            return Outcome("fail", "; ".join(as_text(each.render(variables)) for each in messages), target.pointer)
        if self.pattern is not None or self.any_pattern is not None:
            return self._patterns(target, variables)
        return self._each(target, variables, nesting)

    def _patterns(self, target: Target, variables: Variables) -> Outcome:
        if target.deleted and not target.scoped:
            return Outcome("skip", "patterns do not hold for what is deleted")
        if self.pattern is not None:
            mismatch = self.pattern.of(variables).check(target.value)
            if mismatch is None:
                return PASSED
            at = target.pointer + mismatch.pointer
            return Outcome("skip" if mismatch.skip else "fail", said(mismatch, target.pointer), at)
        failed: list[Mismatch] = []
        skipped: list[Mismatch] = []
        for pattern in self.any_pattern or ():
            mismatch = pattern.of(variables).check(target.value)
            if mismatch is None:
                return PASSED
            (skipped if mismatch.skip else failed).append(mismatch)
        listed = failed or skipped
        if not listed:
            return PASSED
        text = " - or: ".join(said(mismatch, target.pointer) for mismatch in listed)
        at = target.pointer + listed[0].pointer if len(listed) == 1 else target.pointer
        return Outcome("fail" if failed else "skip", text, at)

    def _each(self, target: Target, variables: Variables, nesting: int) -> Outcome:
        applied = 0
        for foreach in self.foreach or ():
            outcome, count = foreach.run(target, variables, nesting)
            if outcome.status != "pass":
                return outcome
            applied += count
        return PASSED if applied else Outcome("skip", "there is no element to check")


class ForEach(NamedTuple):
    """One entry of ``foreach``."""

    list: Template
    scope: bool | None
    context: tuple[Entry, ...]
    preconditions: Conditions
    check: Check

    def run(self, target: Target, variables: Variables, nesting: int) -> tuple[Outcome, int]:
        """The outcome of the first element that fails, and how many passed."""
        applied = 0
        elements = elements_of(self.list, variables)
        if target.places is None and any(type(each) in (dict, list) for each in elements):
            target = replace(target, places=places_in(target.resource))
        for index, element in enumerate(elements):
            if element is None:
                continue
            inner = variables.inner(element_names(element, index, nesting))
            inner.give({name: values[index] for name, values in (target.given or {}).items() if index < len(values)})
            try:
                outcome = self._one(element, target, inner, nesting)
            except (RuleError, EvaluationError) as error:
                if index < len(elements) - 1:
                    continue  # what follows may still fail
                return Outcome("error", str(error)), applied
            if outcome.status == "pass":
                applied += 1
            elif outcome.status != "skip":
                return outcome, applied
        return PASSED, applied

    def _one(self, element: Any, target: Target, variables: Variables, nesting: int) -> Outcome:
        is_map = type(element) is dict
        if self.scope and not is_map:
            raise RuleError("elementScope is for elements that are objects")
        scoped = is_map if self.scope is None else self.scope
        variables.define(self.context)
        if not self.preconditions.hold(variables):
            return Outcome("skip", "preconditions not met")
        pointer = (target.places or {}).get(id(element), "")
        if scoped:
            target = replace(target, value=element, scoped=True, pointer=pointer)
        outcome = self.check.run(target, variables, nesting + 1)
        return outcome._replace(pointer=outcome.pointer or pointer, variables=outcome.variables or variables)


def elements_of(listed: Template, variables: Variables) -> list[Any]:
    """The elements of a foreach: none where the list cannot be found, one for a value that is no list."""
    try:
        value = listed.render(variables)
    except (RuleError, EvaluationError):
        return []
    return value if type(value) is list else [value]


def element_names(element: Any, index: int, nesting: int) -> dict[str, Any]:
    """The variables of an element of a foreach: ``element``, ``elementIndex``, and both with the depth of nesting."""
    return {
        "element": element,
        f"element{nesting}": element,
        "elementIndex": index,
        f"elementIndex{nesting}": index,
    }


def places_in(value: Any) -> dict[int, str]:
    """Where each map and list in a value stands (JSON Pointer), by its ``id``: a foreach is over those very ones.

    Found once for all: to look for each element would take the square of their number.
    """
    places: dict[int, str] = {}
    waiting = [(value, "")]
    while waiting:
        found, pointer = waiting.pop()
        for key, item in found.items() if type(found) is dict else enumerate(found) if type(found) is list else ():
            if type(item) in (dict, list) and id(item) not in places:
                places[id(item)] = at = f"{pointer}/{escape(str(key))}"
                waiting.append((item, at))
    return places


_FOREACH_NAMES: Final = frozenset(("element", "elementIndex"))


def compile_check(value: dict[str, Any], pointer: str, compiler: Compiler, what: str, nesting: int = 0) -> Check:
    """The check that ``validate`` (``what``), or an entry of foreach, asks for."""
    flaws = compiler.flaws
    found = [name for name in CHECKS if value.get(name) is not None]
    if len(found) != 1:
        named = " and ".join(found) if found else "none"
        if not any(name in value for name in UNSUPPORTED):
            flaws.append(Flaw(pointer, f"{what} needs one of {', '.join(CHECKS)}; it has {named}", key=True))
        if not found:
            return Check(deny=ALWAYS)
    name = found[0]
    at, written = f"{pointer}/{name}", value[name]
    if name == "pattern":
        return Check(pattern=_pattern(written, at, compiler))
    if name == "anyPattern":
        listed = a_list(written, at, flaws, "anyPattern")
        return Check(any_pattern=tuple(_pattern(item, f"{at}/{index}", compiler) for index, item in enumerate(listed)))
    if name == "deny":
        if not a_map(written, at, flaws, "deny"):
            return Check(deny=ALWAYS)
        only_keys(written, ("conditions",), at, flaws, "deny")
        return Check(deny=compile_conditions(written.get("conditions"), f"{at}/conditions", compiler))
    entries = a_list(written, at, flaws, "foreach")
    return Check(
        foreach=tuple(
            entry for index, item in enumerate(entries) for entry in _foreach(item, f"{at}/{index}", compiler, nesting)
        )
    )


def _pattern(written: Any, pointer: str, compiler: Compiler) -> _Pattern:
    template = compiler.document(written, pointer)
    return _Pattern(template, compile_pattern(template.render(_NONE)) if template.constant else None)


_NONE: Final[Any] = None  # a constant template asks for no variable


def _foreach(item: Any, pointer: str, compiler: Compiler, nesting: int) -> list[ForEach]:
    flaws = compiler.flaws
    if not a_map(item, pointer, flaws, "an entry of foreach"):
        return []
    only_keys(item, FOREACH, pointer, flaws, "an entry of foreach")
    listed = item.get("list")
    if type(listed) is not str or not listed.strip():
        flaws.append(Flaw(f"{pointer}/list", "an entry of foreach needs a list: a JMESPath expression"))
        return []
    scope = item.get("elementScope")
    if scope is not None and type(scope) is not bool:
        flaws.append(Flaw(f"{pointer}/elementScope", "elementScope must be true or false"))
        scope = None
    inner = compiler.within(foreach_names(nesting) | names_of(item.get("context")))
    return [
        ForEach(
            compiler.expression(listed, f"{pointer}/list"),
            scope,
            compile_context(item.get("context"), f"{pointer}/context", inner),
            compile_conditions(item.get("preconditions"), f"{pointer}/preconditions", inner),
            compile_check(item, pointer, inner, "an entry of foreach", nesting + 1),
        )
    ]


def names_of_elements(value: Any, nesting: int = 0) -> frozenset[str]:
    """The names that there are for the elements of any foreach of a rule, which its message may use."""
    found: frozenset[str] = frozenset()
    for item in value if type(value) is list else ():
        if type(item) is dict:
            inner = names_of_elements(item.get("foreach"), nesting + 1)
            found = found.union(foreach_names(nesting), names_of(item.get("context")), inner)
    return found


def foreach_names(nesting: int) -> frozenset[str]:
    """The names that there are for each element, at this depth."""
    return _FOREACH_NAMES | {f"element{nesting}", f"elementIndex{nesting}"}
