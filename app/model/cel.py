"""Building blocks of CEL expressions over a Pod, for the matchConditions of webhook configurations.

A condition may be true for more pods than a rule cares for, never for fewer: where it is false, the API server
does not call gpugate at all. And it must never be an error, which in an entry that fails closed refuses the pod:
every optional field is tested with has() first. Source: k8s.io/apiserver
pkg/admission/plugin/webhook/matchconditions (v0.37.2).
"""

import json
from collections.abc import Iterable, Iterator
from typing import Final

from app.model.gpu import Names

CONTAINER_LISTS: Final = ("containers", "initContainers", "ephemeralContainers")
_INDENT: Final = "  "
_LOOKUPS: Final = 3


def text(value: str) -> str:
    """A string literal. JSON's escapes are CEL's too, but for characters in two halves, which are left as they are."""
    return json.dumps(value, ensure_ascii=False)


def texts(values: Iterable[str]) -> str:
    """A list of string literals, sorted so that the same set is always the same text."""
    return f"[{', '.join(text(value) for value in sorted(set(values)))}]"


def all_of(*conditions: str) -> str:
    """True if every condition is; evaluated left to right, up to the first that is false."""
    return " && ".join(_grouped(condition, "||") for condition in conditions)


def any_of(conditions: Iterable[str]) -> str:
    """True if any condition is; evaluated left to right, up to the first that is true. "false" without one."""
    listed = list(dict.fromkeys(conditions))
    if len(listed) < 2:
        return listed[0] if listed else "false"
    return " || ".join(_grouped(condition, "&&") for condition in listed)


def lines(conditions: Iterable[str]) -> str:
    """True if every condition is, as `all_of`, with one condition a line."""
    return " &&\n".join(_grouped(condition, "||") for condition in conditions)


def any_line(conditions: Iterable[str]) -> str:
    """True if any condition is, as `any_of`, in parentheses with one condition a line."""
    inner = f" ||\n{_INDENT}".join(_grouped(condition, "&&") for condition in dict.fromkeys(conditions))
    return f"(\n{_INDENT}{inner}\n)"


def _grouped(condition: str, operator: str) -> str:
    """The condition, in parentheses if the operator stands in it outside of any."""
    depth, quoted, position = 0, False, 0
    while position < len(condition):
        character = condition[position]
        if quoted:
            position += character == "\\"
            quoted = character != '"'
        elif character == '"':
            quoted = True
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif depth == 0 and condition.startswith(operator, position):
            return f"({condition})"
        position += 1
    return condition


def present(path: str, root: str = "object") -> str:
    """True if every field on the dotted path is there: has() on each step, as a missing one is an error.

    ``metadata`` and ``spec`` are always there.
    """
    steps = path.split(".")
    first = 1 if steps[0] in ("metadata", "spec") and len(steps) > 1 else 0
    return all_of(*(f"has({root}.{'.'.join(steps[: index + 1])})" for index in range(first, len(steps))))


def named(variable: str, names: Names) -> str:
    """True if the variable (a string) is one of the names."""
    conditions = [f"{variable}.startsWith({text(prefix)})" for prefix in sorted(names.prefixes)]
    if len(names.exact) == 1:
        conditions += [f"{variable} == {text(name)}" for name in names.exact]
    elif names.exact:
        conditions.append(f"{variable} in {texts(names.exact)}")
    return any_of(conditions)


def has_key(path: str, names: Names, root: str = "object") -> str:
    """True if the map at the dotted path is there and has a key among the names.

    A few exact names are looked up. Else each key is compared once; in a small map that takes less than a look-up of
    each name, and prefixes need it anyway.
    """
    if names.prefixes or len(names.exact) > _LOOKUPS:
        # Of the resources that most containers ask for (cpu, memory), none has a slash.
        listed = (*names.exact, *names.prefixes)
        slash = ['k.contains("/")'] if path.endswith("requests") and all("/" in name for name in listed) else []
        found = f"{root}.{path}.exists(k, {all_of(*slash, named('k', names))})"
    else:
        found = any_of(f"{text(name)} in {root}.{path}" for name in sorted(names.exact))
    return all_of(present(path, root), found)


def containers(condition: str, lists: Iterable[str] = CONTAINER_LISTS) -> Iterator[str]:
    """Conditions, one of which is true if the given one holds for a container ``c`` in any of the lists."""
    for field in lists:
        # A pod without containers has null there until it is validated, after the mutating phase.
        there = "object.spec.containers != null" if field == "containers" else f"has(object.spec.{field})"
        yield f"{there} && object.spec.{field}.exists(c, {condition})"


def changed(path: str) -> str:
    """True if an update changes the field at the dotted path; its parents are always there."""
    parent, _, field = path.rpartition(".")
    return f"object.{parent}.?{field} != oldObject.{parent}.?{field}"
