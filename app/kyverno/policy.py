"""ClusterPolicy and Policy documents, compiled."""

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from app.kyverno import autogen
from app.kyverno.actions import Action, Override, read_action, read_overrides
from app.kyverno.conditions import Conditions, compile_conditions
from app.kyverno.contexts import compile_context, names_of
from app.kyverno.kinds import Kind
from app.kyverno.matching import Match, compile_match
from app.kyverno.mutation import Mutation, compile_mutation
from app.kyverno.shapes import a_list, a_map, only_keys, suggestion
from app.kyverno.templates import Compiler, Template
from app.kyverno.types import Flaw, InvalidPolicy
from app.kyverno.validation import CHECKS, UNSUPPORTED, Check, compile_check, names_of_elements
from app.kyverno.variables import BUILT_IN, Entry

KINDS: Final = ("ClusterPolicy", "Policy")
VERSIONS: Final = ("kyverno.io/v1", "kyverno.io/v2beta1")

_SPEC: Final = (
    "admission", "applyRules", "background", "emitWarning", "failurePolicy", "generateExisting",
    "generateExistingOnPolicyUpdate", "mutateExistingOnPolicyUpdate", "rules", "schemaValidation", "useServerSideApply",
    "validationFailureAction", "validationFailureActionOverrides", "webhookConfiguration", "webhookTimeoutSeconds",
)  # fmt: skip
_RULE: Final = (
    "name", "match", "exclude", "context", "preconditions", "validate", "mutate", "generate", "verifyImages",
    "celPreconditions", "imageExtractors", "reportProperties", "skipBackgroundRequests",
)  # fmt: skip
_VALIDATE: Final = (
    "message", "failureAction", "failureActionOverrides", "allowExistingViolations", *CHECKS, *UNSUPPORTED,
)  # fmt: skip
NOT_TAKEN: Final = {
    "generate": "rules that make other objects",
    "verifyImages": "the verification of images",
    "celPreconditions": "CEL preconditions",
    "imageExtractors": "images of custom resources",
}
_LONGEST_NAME: Final = 63
_KNOWN_KINDS: Final = 64


@dataclass(frozen=True, slots=True)
class Validation:
    """``validate`` of a rule."""

    check: Check
    message: Template | None
    action: Action
    overrides: tuple[Override, ...]
    allow_existing: bool

    def action_in(self, namespace: str, labels: dict[str, str]) -> Action:
        """What a failure means in a namespace with these labels."""
        found = (each.action for each in self.overrides if each.covers(namespace, labels))
        return next(found, self.action)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: ``validation`` or ``mutation`` is there. ``generated``: made by Kyverno for controllers of pods.

    ``summary`` is its message as it is written, without anything filled in.
    """

    name: str
    match: Match
    exclude: Match
    context: tuple[Entry, ...]
    preconditions: Conditions
    validation: Validation | None
    mutation: Mutation | None
    pointer: str
    generated: bool = False
    summary: str = ""

    @property
    def kind(self) -> Literal["validate", "mutate"]:
        """What the rule does."""
        return "validate" if self.mutation is None else "mutate"


@dataclass(frozen=True, slots=True)
class ClusterPolicy:
    """A ClusterPolicy, or a Policy of a ``namespace``. ``strict``: an error of a rule is a failure."""

    name: str
    namespace: str | None
    rules: tuple[Rule, ...]
    one: bool
    strict: bool
    warns: bool
    mutating: tuple[Rule, ...]
    validating: tuple[Rule, ...]
    description: str = ""
    _by_kind: dict[tuple[Kind, str], tuple[tuple[Rule, ...], tuple[Rule, ...]]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def rules_for(self, kind: Kind, subresource: str) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
        """The mutating and the validating rules that can be for resources of a kind."""
        found = self._by_kind.get((kind, subresource))
        if found is None:
            found = (
                tuple(rule for rule in self.mutating if rule.match.can_select(kind, subresource)),
                tuple(rule for rule in self.validating if rule.match.can_select(kind, subresource)),
            )
            if len(self._by_kind) < _KNOWN_KINDS:
                self._by_kind[kind, subresource] = found
        return found

    @property
    def key(self) -> str:
        """How exceptions name it."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def compile_policy(document: dict[str, Any], *, values_given: bool = False) -> ClusterPolicy:
    """The policy that a document is; raises InvalidPolicy with everything that is wrong with it, or not supported.

    ``values_given``: variables may come from outside, as in a test; so context of the network is no limit, and any
    name may be a variable.
    """
    flaws: list[Flaw] = []
    metadata, spec = document.get("metadata"), document.get("spec")
    metadata = metadata if type(metadata) is dict else {}
    name = metadata.get("name")
    if type(name) is not str or not name:
        flaws.append(Flaw("/metadata/name", "a policy needs a name"))
    if not a_map(spec, "/spec", flaws, "spec"):
        raise InvalidPolicy(flaws)
    _check_spec(spec, flaws)
    rules = _rules(document, spec, flaws, values_given=values_given)
    if values_given:
        flaws = [flaw for flaw in flaws if not (flaw.limit and "/context/" in flaw.pointer)]
    if flaws:
        raise InvalidPolicy(flaws)
    namespaced = document.get("kind") == "Policy"
    return ClusterPolicy(
        str(name),
        str(metadata.get("namespace") or "default") if namespaced else None,
        rules,
        spec.get("applyRules") == "One",
        _failure_policy(spec) != "Ignore",
        spec.get("emitWarning") is True,
        tuple(rule for rule in rules if rule.mutation is not None),
        tuple(rule for rule in rules if rule.validation is not None),
        _description(metadata),
    )


def _description(metadata: dict[str, Any]) -> str:
    annotations = metadata.get("annotations")
    found = annotations.get("policies.kyverno.io/description") if type(annotations) is dict else None
    return " ".join(found.split()) if type(found) is str else ""


def _check_spec(spec: dict[str, Any], flaws: list[Flaw]) -> None:
    only_keys(spec, _SPEC, "/spec", flaws, "the spec of a policy")
    _one_of(spec, "applyRules", ("All", "One"), "/spec", flaws)
    _one_of(spec, "failurePolicy", ("Fail", "Ignore"), "/spec", flaws)
    webhook = spec.get("webhookConfiguration")
    if webhook is not None and a_map(webhook, "/spec/webhookConfiguration", flaws, "webhookConfiguration"):
        known = ("failurePolicy", "matchConditions", "timeoutSeconds")
        only_keys(webhook, known, "/spec/webhookConfiguration", flaws, "webhookConfiguration")
        _one_of(webhook, "failurePolicy", ("Fail", "Ignore"), "/spec/webhookConfiguration", flaws)
        if webhook.get("matchConditions"):
            said = "matchConditions of a policy's webhook (CEL) are not supported"
            flaws.append(Flaw("/spec/webhookConfiguration/matchConditions", said, key=True, limit=True))
    if spec.get("admission") is False:
        said = "a policy that is not for admission (admission: false) has nothing to do here"
        flaws.append(Flaw("/spec/admission", said, limit=True))


def _failure_policy(spec: dict[str, Any]) -> Any:
    webhook = spec.get("webhookConfiguration")
    return (webhook.get("failurePolicy") if type(webhook) is dict else None) or spec.get("failurePolicy")


def _one_of(value: dict[str, Any], key: str, known: tuple[str, ...], pointer: str, flaws: list[Flaw]) -> None:
    found = value.get(key)
    if found is not None and found not in known:
        flaws.append(Flaw(f"{pointer}/{key}", f'{key} cannot be "{found}"; {suggestion(found, known)}'))


def _rules(
    document: dict[str, Any], spec: dict[str, Any], flaws: list[Flaw], *, values_given: bool
) -> tuple[Rule, ...]:
    written = a_list(spec.get("rules"), "/spec/rules", flaws, "rules")
    if not written and type(spec.get("rules")) is list:
        flaws.append(Flaw("/spec/rules", "a policy needs at least one rule"))
    names = None if values_given else BUILT_IN
    found: list[Rule] = []
    seen: set[str] = set()
    for index, rule in enumerate(written):
        pointer = f"/spec/rules/{index}"
        compiled = _rule(rule, spec, pointer, Compiler(flaws, names))
        if compiled is None:
            continue
        if compiled.name in seen:
            flaws.append(Flaw(f"{pointer}/name", f'two rules have the name "{compiled.name}"'))
        seen.add(compiled.name)
        found.append(compiled)
    if flaws and not values_given:
        return tuple(found)  # the generated rules would repeat what is wrong
    for index, rule in autogen.generated(document):
        pointer = f"/spec/rules/{index}"
        compiled = _rule(rule, spec, pointer, Compiler([], names), generated=True)
        if compiled is not None:
            found.append(compiled)
    return tuple(found)


def _rule(rule: Any, spec: dict[str, Any], pointer: str, compiler: Compiler, *, generated: bool = False) -> Rule | None:
    flaws = compiler.flaws
    if not a_map(rule, pointer, flaws, "a rule"):
        return None
    only_keys(rule, _RULE, pointer, flaws, "a rule")
    name = rule.get("name")
    if type(name) is not str or not name or len(name) > _LONGEST_NAME:
        flaws.append(Flaw(f"{pointer}/name", f"a rule needs a name of at most {_LONGEST_NAME} characters"))
        name = ""
    for key, what in NOT_TAKEN.items():
        if rule.get(key):
            flaws.append(Flaw(f"{pointer}/{key}", f'rule "{name}": {what} ({key}) are not supported', True, True))
    match = compile_match(rule.get("match"), f"{pointer}/match", flaws, "match")
    if not match.filters:
        flaws.append(Flaw(f"{pointer}/match", f'rule "{name}" matches nothing: match names no resources', key=True))
    compiler = compiler.within(names_of(rule.get("context")))
    context = compile_context(rule.get("context"), f"{pointer}/context", compiler)
    preconditions = compile_conditions(rule.get("preconditions"), f"{pointer}/preconditions", compiler)
    validate, mutate = rule.get("validate"), rule.get("mutate")
    if (validate is None) is (mutate is None):
        if validate is not None or not any(rule.get(key) for key in NOT_TAKEN):
            said = f'rule "{name}" needs either validate or mutate, and has ' + ("both" if validate else "neither")
            flaws.append(Flaw(pointer, said, key=True))
        if validate is None:
            return None
    message = validate.get("message") if type(validate) is dict else None
    return Rule(
        name,
        match,
        compile_match(rule.get("exclude"), f"{pointer}/exclude", flaws, "exclude"),
        context,
        preconditions,
        None if validate is None else _validation(validate, spec, f"{pointer}/validate", name, compiler),
        None if mutate is None else compile_mutation(mutate, f"{pointer}/mutate", compiler),
        pointer,
        generated,
        " ".join(message.split()) if type(message) is str else "",
    )


def _validation(value: Any, spec: dict[str, Any], pointer: str, rule: str, compiler: Compiler) -> Validation | None:
    flaws = compiler.flaws
    if not a_map(value, pointer, flaws, "validate"):
        return None
    only_keys(value, _VALIDATE, pointer, flaws, "validate")
    for key, what in UNSUPPORTED.items():
        if value.get(key):
            flaws.append(Flaw(f"{pointer}/{key}", f'rule "{rule}": {what} ({key}) are not supported', True, True))
    message = value.get("message")
    if message is not None and type(message) is not str:
        flaws.append(Flaw(f"{pointer}/message", "the message must be text"))
        message = None
    check = compile_check(value, pointer, compiler, "validate")
    action = read_action(value.get("failureAction"), f"{pointer}/failureAction", flaws)
    overrides = read_overrides(value.get("failureActionOverrides"), f"{pointer}/failureActionOverrides", flaws)
    if value.get("failureAction") is None:
        action = read_action(spec.get("validationFailureAction"), "/spec/validationFailureAction", flaws)
    if not overrides:
        at = "/spec/validationFailureActionOverrides"
        overrides = read_overrides(spec.get("validationFailureActionOverrides"), at, flaws)
    return Validation(
        check,
        compiler.within(names_of_elements(value.get("foreach"))).text(message, f"{pointer}/message")
        if message
        else None,
        action,
        overrides,
        value.get("allowExistingViolations") is not False,
    )
