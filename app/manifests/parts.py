"""The pods of a mode, parted by what it means if they cannot be judged.

In `enforce` the parts of one phase exclude each other, so that a pod costs at most one call a phase, and only pods that
can be refused or have to be changed are in parts that fail closed. In the other modes there is one part; it fails open.
"""

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from app.admission.webhook import Phase
from app.manifests.conditions import Conditions, broad, either, tight
from app.model import cel
from app.policy.compiled import Mode, Policy

Scope = Literal["tight", "broad"]

_CREATED: Final = 'request.operation == "CREATE"'


class Part(NamedTuple):
    """The pods of one webhook entry, as a CEL expression. ``strict``: one that cannot be judged is refused."""

    name: str
    condition: str
    strict: bool


class _Groups(NamedTuple):
    """CEL expressions of pods. ``gpu`` and ``other`` (pods without GPUs) can be refused or must be changed, ``lenient``
    can only be warned about, or hide what they are."""

    gpu: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    lenient: tuple[str, ...] = ()


def parts(policy: Policy, phase: Phase, mode: Mode, scope: Scope) -> list[Part]:
    """The parts of a mode: `gpu`, `other` and `lenient` in `enforce`, one without a name elsewhere, none for nobody.

    In the broad scope, what can be refused is not known from the policy: GPU pods fail closed, all others open.
    """
    conditions = broad(policy) if scope == "broad" else tight(policy)
    return list(_parts(_groups(policy, conditions, phase, mode, scope), conditions, phase, mode))


def joint_parts(old: Policy, new: Policy, phase: Phase, mode: Mode) -> list[Part]:
    """The parts that hold the pods of either policy, for while servers change from one to the other."""
    first, second = tight(old), tight(new)
    groups = (_groups(old, first, phase, mode, "tight"), _groups(new, second, phase, mode, "tight"))
    together = _Groups(*((*of_old, *of_new) for of_old, of_new in zip(*groups, strict=True)))
    return list(_parts(together, either(first, second), phase, mode))


def _groups(policy: Policy, conditions: Conditions, phase: Phase, mode: Mode, scope: Scope) -> _Groups:
    kyverno = (conditions.changed, conditions.noted)
    if scope == "broad":
        noticed = conditions.noticed if phase == "validate" else conditions.noted
        return _Groups(gpu=conditions.gpu, lenient=(*conditions.claims, *noticed))
    if phase == "mutate":
        groups = _changed(policy, conditions)
        return groups._replace(other=(*groups.other, *kyverno[0]), lenient=(*groups.lenient, *kyverno[1]))
    groups = _judged(policy, conditions)
    # Where Kyverno's changes are not made, pods are judged as if they were.
    as_changed = (*kyverno[0], *kyverno[1]) if mode in ("audit", "warn") else ()
    return groups._replace(lenient=(*groups.lenient, *as_changed))


def _changed(policy: Policy, conditions: Conditions) -> _Groups:
    """The pods that the mutating call can change or refuse: rules that repair know what is beyond repair."""
    repairing = [bound for bound in policy.rules if bound.rule.repairs]
    if not (repairing or policy.injections):
        return _Groups()
    claims = conditions.claims if policy.gpus.device_classes else ()
    if policy.injections or any(bound.repair or bound.action == "deny" for bound in repairing):
        return _Groups(gpu=conditions.gpu, lenient=claims)
    return _Groups(lenient=(*conditions.gpu, *claims))


def _judged(policy: Policy, conditions: Conditions) -> _Groups:
    """The pods that the validating call can find fault with."""
    rules = [bound for bound in policy.rules if bound.rule.pods != "other"]
    conflicts = any(
        bound.injection.node_selector and bound.injection.on_conflict == "refuse" for bound in policy.injections
    )
    if not (rules or conflicts):
        return _Groups(other=conditions.refused, lenient=conditions.noticed)
    hidden = any(bound.rule.hidden_claims for bound in rules) or policy.gpus.device_classes
    lenient = (*conditions.claims, *conditions.noticed) if hidden else conditions.noticed
    if conflicts or any(bound.action == "deny" for bound in rules):
        return _Groups(conditions.gpu, conditions.refused, lenient)
    return _Groups((), conditions.refused, (*conditions.gpu, *lenient))


def _parts(groups: _Groups, conditions: Conditions, phase: Phase, mode: Mode) -> Iterator[Part]:
    asked = [] if phase == "mutate" else [cel.any_of([_CREATED, conditions.update])]
    exempt = f"!{cel.any_line(conditions.exempt)}"

    def condition(pods: tuple[str, ...], taken: tuple[str, ...] = ()) -> str:
        others = [f"!{cel.any_line(taken)}"] if taken else []
        return cel.lines([*asked, cel.any_line(pods), *others, exempt])

    everyone = (*groups.gpu, *groups.other, *groups.lenient)
    if mode != "enforce":
        if everyone:
            yield Part("", condition(everyone), strict=False)
        return
    if groups.gpu:
        yield Part("gpu", condition(groups.gpu), strict=True)
    if groups.other:
        yield Part("other", condition(groups.other, groups.gpu), strict=True)
    if groups.lenient:
        yield Part("lenient", condition(groups.lenient, (*groups.gpu, *groups.other)), strict=False)
