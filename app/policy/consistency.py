"""What can be right in each document of a policy, and wrong in all of them together."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from app.model.gpu import DEVICE_CLASS_PREFIX, Names
from app.policy.compile import gpu_set
from app.policy.errors import Problem
from app.policy.kinds import BUILT_IN
from app.policy.sources import Foreign, Parsed, at
from app.rules.registry import RULES

_SINGLE: Final = ("gpus", "modes", "exempt", "workloads")


def clashes(parsed: list[Parsed]) -> Iterator[Problem]:
    """What is right in each document and wrong in all of them together."""
    first: dict[tuple[str, str], tuple[Parsed, str]] = {}
    for each in parsed:
        for kind, name, pointer in _single(each):
            if (kind, name) in first:
                yield _again(each, pointer, kind, name, _line(*first[kind, name]))
            first.setdefault((kind, name), (each, pointer))


def _single(parsed: Parsed) -> Iterator[tuple[str, str, str]]:
    """The (kind, name, pointer) of all that may be there once. Findings carry both rules' and injections' names, so
    they share one space."""
    yield "document", parsed.name, "/metadata/name"
    for section in _SINGLE:
        if getattr(parsed.spec, section) is not None:
            yield "section", section, f"/spec/{section}"
    for index, rule in enumerate(parsed.spec.rules):
        yield "rule or injection", rule.name or rule.rule, f"/spec/rules/{index}/{'name' if rule.name else 'rule'}"
    for index, injection in enumerate(parsed.spec.inject):
        yield "rule or injection", injection.name, f"/spec/inject/{index}/name"
    for index, exception in enumerate(parsed.spec.exceptions):
        yield "exception", exception.name, f"/spec/exceptions/{index}/name"


def unknown_rules(parsed: list[Parsed], foreign: list[Foreign]) -> Iterator[Problem]:
    """Exceptions for rules that no document has; those of Kyverno's policies can be named too."""
    names = {name for each in parsed for kind, name, _ in _single(each) if kind == "rule or injection"}
    names |= {rule.name for each in foreign for rule in getattr(each.compiled, "rules", ()) if not rule.generated}
    for each in parsed:
        for index, exception in enumerate(each.spec.exceptions):
            for position, name in enumerate(exception.rules):
                if name not in names:
                    said = f'the policy has no rule named "{name}"; it has {", ".join(sorted(names)) or "none"}'
                    yield at(each.document, f"/spec/exceptions/{index}/rules/{position}", said)


def unknown_workloads(parsed: list[Parsed]) -> Iterator[Problem]:
    """Resources to refuse of which nobody says where their pods are."""
    for each in parsed:
        workloads = each.spec.workloads
        if workloads is None:
            continue
        known = {*BUILT_IN, *(kind.resource for kind in workloads.kinds)}
        for index, resource in enumerate(workloads.refuse):
            if resource not in known:
                said = f'gpugate does not know "{resource}": describe it under spec.workloads.kinds, or mend the name'
                yield at(each.document, f"/spec/workloads/refuse/{index}", said)


def _again(parsed: Parsed, pointer: str, kind: str, name: str, first: str) -> Problem:
    if kind == "section":
        said = f"{name} may stand in one document only; the first is at {first}"
    else:
        said = f'a second {kind} is named "{name}"; the first is at {first}'
    return at(parsed.document, pointer, said, key=True)


def _line(parsed: Parsed, pointer: str) -> str:
    return f"{parsed.document.name}:{parsed.document.locate(pointer, key=True).line}"


def never_applying(parsed: list[Parsed]) -> Iterator[Problem]:
    """Rules and injections that would silently never apply: what they name is no GPU of this policy."""
    gpus = gpu_set(parsed)
    resources = Names(
        [*gpus.resources.exact, *(f"{prefix}*" for prefix in gpus.resources.prefixes)]
        + [DEVICE_CLASS_PREFIX + name for name in gpus.device_classes.exact]
        + [f"{DEVICE_CLASS_PREFIX}{prefix}*" for prefix in gpus.device_classes.prefixes]
    )
    counts_none = not (resources or gpus.annotations)
    for each in parsed:
        for pointer, entry in _entries(each):
            rule = RULES[entry.rule] if hasattr(entry, "rule") else None
            if counts_none and (rule is None or rule.pods == "gpu"):
                said = "never applies, as the policy counts nothing as a GPU: name presets or resources under spec.gpus"
                yield at(each.document, pointer, said)
                continue
            named = [(f"/match/resources/{index}", name) for index, name in enumerate(entry.match.resources)]
            if rule is not None:
                named += [(f"/with{place}", name) for place, name in rule.resources(entry.with_)]
            yield from _unknown(each, pointer, named, resources, "resource")
            classes = [(f"/match/deviceClasses/{index}", name) for index, name in enumerate(entry.match.deviceClasses)]
            yield from _unknown(each, pointer, classes, gpus.device_classes, "device class")


def _entries(parsed: Parsed) -> Iterator[tuple[str, Any]]:
    for index, rule in enumerate(parsed.spec.rules):
        yield f"/spec/rules/{index}", rule
    for index, injection in enumerate(parsed.spec.inject):
        yield f"/spec/inject/{index}", injection


def _unknown(
    parsed: Parsed, pointer: str, named: Iterable[tuple[str, str]], known: Names, what: str
) -> Iterator[Problem]:
    for place, pattern in named:
        if not _overlaps(pattern, known):
            said = (
                f'"{pattern}" matches no {what} that the policy counts as a GPU; name it or its preset under spec.gpus'
            )
            yield at(parsed.document, pointer + place, said, key=place.startswith("/with"))


def _overlaps(pattern: str, names: Names) -> bool:
    """False if no name can match both."""
    literal = pattern.partition("*")[0].partition("?")[0]
    if literal == pattern:
        return pattern in names
    either = any(prefix.startswith(literal) or literal.startswith(prefix) for prefix in names.prefixes)
    return either or any(name.startswith(literal) for name in names.exact)
