"""Which pods the rules of Kyverno's policies are for, as CEL conditions: of what their matches say, what CEL can tell.

Whatever cannot be told for sure (excludes, names, annotations, operations, wildcards in the middle, who asks) is taken
to hold.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.model import cel
from app.model.gpu import Names
from app.policy.compiled import Policy

if TYPE_CHECKING:  # see app.policy.compiled
    from app.kyverno.matching import Filter, Match
    from app.kyverno.policy import ClusterPolicy, Rule
    from app.kyverno.selectors import LabelSelector

_ALWAYS = "true"


@dataclass(frozen=True, slots=True)
class Reach:
    """CEL expressions, of which one is true for each pod that a rule is for.

    ``changed`` and ``noted``: rules that mutate, where an outage may not, and may, let pods through unchanged.
    ``refused``: rules that can refuse; ``noticed``: all others that validate. ``updated``: what an update must do for
    them to be asked. ``advised``: what makes pods, where a rule is for its kind rather than for pods.
    """

    changed: tuple[str, ...] = ()
    noted: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    noticed: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    advised: tuple[str, ...] = ()


def reach(policy: Policy) -> Reach:
    """The reach of all of Kyverno's policies together."""
    if not policy.kyverno:
        return Reach()
    by_labels = not any(each.mutating for each in policy.kyverno)  # else a change may add the labels
    found: dict[str, list[str]] = {"changed": [], "noted": [], "refused": [], "noticed": []}
    for each in policy.kyverno:
        for rule in each.rules:
            condition = _condition(each, rule, by_labels=by_labels)
            if condition is not None:
                found[_group(each, rule)].append(condition)
    updates = bool(found["refused"] or found["noticed"])
    return Reach(
        **{name: tuple(dict.fromkeys(conditions)) for name, conditions in found.items()},
        updated=_UPDATED if updates else (),
        advised=(_ALWAYS,) if any(_names_controllers(each) for each in policy.kyverno) else (),
    )


def _names_controllers(policy: "ClusterPolicy") -> bool:
    """Whether a rule names kinds beside pods; Kyverno's own rules for them are for what those for pods are for."""
    return any(
        each.kinds and not any(kind.pods for kind in each.kinds)
        for rule in policy.rules
        if not rule.generated
        for each in rule.match.filters
    )


_UPDATED = ("object.spec != oldObject.spec", cel.changed("metadata.labels"), cel.changed("metadata.annotations"))


def _group(policy: "ClusterPolicy", rule: "Rule") -> str:
    validation = rule.validation
    if validation is None:
        return "changed" if policy.strict else "noted"
    enforced = validation.action == "Enforce" or any(each.action == "Enforce" for each in validation.overrides)
    return "refused" if enforced and policy.strict else "noticed"


def _condition(policy: "ClusterPolicy", rule: "Rule", *, by_labels: bool) -> str | None:
    """The condition of a rule; None for one that is not for pods."""
    match = rule.match
    if match.any:
        filters = [_filter(each, by_labels=by_labels) for each in match.any]
        told = [each for each in filters if each is not None]
        if not told:
            return None
        condition: str | None = _ALWAYS if _ALWAYS in told else cel.any_of(told)
    else:
        condition = _all(match, by_labels=by_labels)
    if condition is None or policy.namespace is None:
        return condition
    return _both(f"request.namespace == {cel.text(policy.namespace)}", condition)


def _all(match: "Match", *, by_labels: bool) -> str | None:
    condition = _ALWAYS
    for each in match.all:
        told = _filter(each, by_labels=by_labels)
        if told is None:
            return None
        condition = _both(condition, told)
    return condition


def _both(one: str, other: str) -> str:
    return other if one == _ALWAYS else one if other == _ALWAYS else cel.all_of(one, other)


def _filter(each: "Filter", *, by_labels: bool) -> str | None:
    if each.kinds and not any(kind.pods for kind in each.kinds):
        return None
    condition = _names("request.namespace", each.namespaces)
    if by_labels and each.selector is not None:
        condition = _both(condition, _labels(each.selector))
    return condition


def _names(variable: str, patterns: Iterable[str]) -> str:
    """True if the variable is one of the names; patterns with wildcards elsewhere than at the end are not told."""
    listed = tuple(patterns)
    if not listed or any("?" in each or "*" in each.rstrip("*") or each.strip("*") == "" for each in listed):
        return _ALWAYS
    return cel.named(variable, Names([each.rstrip("*") + "*" if each.endswith("*") else each for each in listed]))


def _labels(selector: "LabelSelector") -> str:
    labels = "object.metadata.labels"
    told = [
        f"{cel.text(key)} in {labels} && {labels}[{cel.text(key)}] == {cel.text(value)}"
        for key, value in selector.labels
        if not any(wild in key + value for wild in "*?")
    ]
    return cel.all_of(f"has({labels})", *told) if told else _ALWAYS
