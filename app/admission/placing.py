"""The verdict on a pod that was put together, in the terms of the object that describes it.

What the webhook adds to such a pod may have no place in the object: it is added when the pod is created, and said to
be. Where a kind has no field at all, that nobody wrote it is no violation, if the webhook adds it.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from app.model.finding import Finding
from app.model.places import Places
from app.policy.compiled import Policy

_VIOLATIONS: Final = ("deny", "warn", "audit")


def placed(
    places: Places, findings: list[Finding], changes: list[Finding], repairs: list[Finding], *, gpu: bool
) -> tuple[list[Finding], list[Finding]]:
    """The findings and changes at the fields that they are about.

    ``repairs`` are what a pod gets that is repaired: of them, what the kind has no field for takes the place of the
    violation.
    """
    findings, mended = _mended(places, findings, repairs)
    return list(_findings(places, findings, gpu=gpu)), list(_changes(places, mended + changes))


def notes(places: Places, policy: Policy) -> Iterator[Finding]:
    """What there is to say of the kind, in the name of the first rule for GPU pods: it could not be judged by that."""
    rule = next((bound for bound in policy.rules if bound.rule.pods == "gpu"), None)
    if rule is not None:
        for note in places.notes:
            yield Finding(rule.policy, rule.name, "note", note.pointer, note.message)


def _mended(places: Places, findings: list[Finding], repairs: list[Finding]) -> tuple[list[Finding], list[Finding]]:
    known = {(each.policy, each.rule, each.pointer): each for each in repairs if each.outcome == "repair"}
    kept, mended = [], []
    for finding in findings:
        repair = known.get((finding.policy, finding.rule, finding.pointer))
        if repair is not None and _cannot_be_written(places, finding):
            mended.append(repair)
        else:
            kept.append(finding)
    return kept, mended


def _cannot_be_written(places: Places, finding: Finding) -> bool:
    return finding.outcome in _VIOLATIONS and places.find(finding.pointer).missing


def _findings(places: Places, findings: Iterable[Finding], *, gpu: bool) -> Iterator[Finding]:
    for finding in findings:
        place = places.find(finding.pointer)
        message, outcome = finding.message, finding.outcome
        if outcome in _VIOLATIONS and places.rest and not gpu and finding.container is None:
            outcome, message = "note", f"{message} (unless {places.rest} asks for one)"
        elif outcome in _VIOLATIONS and place.reason is not None:
            message = f"{message} ({place.reason})"
        yield finding._replace(pointer=place.pointer, message=message, outcome=outcome)


def _changes(places: Places, changes: Iterable[Finding]) -> Iterator[Finding]:
    made: set[str] = set()
    for change in changes:
        place = places.find(change.pointer)
        operations = places.operations(change.operations, made)
        if operations is None:
            reasons = (places.find(operation["path"]).reason for operation in change.operations)
            said = f"{change.message}, at the pod: {place.reason or next(filter(None, reasons))}"
            yield change._replace(pointer=place.pointer, message=said, operations=())
        else:
            yield change._replace(pointer=place.pointer, operations=tuple(operations))
