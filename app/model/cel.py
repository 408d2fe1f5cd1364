"""Building blocks of CEL expressions over a Pod, for the matchConditions of webhook configurations.

A condition may be true for more pods than a rule cares for, never for fewer: where it is false, the API server
does not call gpugate at all. Source: k8s.io/apiserver pkg/admission/plugin/webhook/matchconditions (v0.37.2).
"""

import json
from collections.abc import Iterable
from typing import Final

from app.model.gpu import Names

CONTAINER_LISTS: Final = ("containers", "initContainers", "ephemeralContainers")


def text(value: str) -> str:
    """A string literal. JSON's escapes are CEL's too."""
    return json.dumps(value)


def texts(values: Iterable[str]) -> str:
    """A list of string literals, sorted so that the same set is always the same text."""
    return f"[{', '.join(text(value) for value in sorted(values))}]"


def all_of(*conditions: str) -> str:
    """True if every condition is; evaluated left to right."""
    return " && ".join(conditions)


def any_of(conditions: Iterable[str]) -> str:
    """True if any condition is; "false" without one."""
    listed = list(conditions)
    if len(listed) < 2:
        return listed[0] if listed else "false"
    return " || ".join(f"({condition})" if "&&" in condition else condition for condition in listed)


def present(path: str, root: str = "object") -> str:
    """True if every field on the dotted path is there: has() on each step, as a missing one is an error."""
    steps = path.split(".")
    return all_of(*(f"has({root}.{'.'.join(steps[: index + 1])})" for index in range(len(steps))))


def named(variable: str, names: Names) -> str:
    """True if the variable (a string) is one of the names."""
    conditions = [f"{variable} in {texts(names.exact)}"] if len(names.exact) > 1 else []
    conditions += [f"{variable} == {text(name)}" for name in names.exact if len(names.exact) == 1]
    conditions += [f"{variable}.startsWith({text(prefix)})" for prefix in sorted(names.prefixes)]
    return any_of(conditions)


def has_key(path: str, names: Names, root: str = "object") -> str:
    """True if the map at the dotted path is there and has a key among the names."""
    if names.prefixes:
        return all_of(present(path, root), f"{root}.{path}.exists(k, {named('k', names)})")
    keys = any_of(f"{text(name)} in {root}.{path}" for name in sorted(names.exact))
    return all_of(present(path, root), f"({keys})" if len(names.exact) > 1 else keys)


def any_container(condition: str) -> str:
    """True if the condition holds for a container ``c`` of any kind."""
    return any_of(
        f"object.spec.containers.exists(c, {condition})"
        if field == "containers"
        else f"has(object.spec.{field}) && object.spec.{field}.exists(c, {condition})"
        for field in CONTAINER_LISTS
    )
