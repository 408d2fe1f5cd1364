"""Kyverno's documents among those of a policy."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final

import orjson

from app.documents import Document
from app.kyverno import exceptions, policy
from app.kyverno.exceptions import PolicyException, compile_exception
from app.kyverno.limits import limits
from app.kyverno.policy import ClusterPolicy, compile_policy
from app.kyverno.types import Flaw, InvalidPolicy
from app.kyverno.values import wildcard
from app.policy.errors import Problem
from app.policy.sources import Foreign, at

_CEL_GROUP: Final = "policies.kyverno.io/"


def parse_foreign(document: Document, parsed: list[Foreign]) -> Iterator[Problem]:
    """Compile a document of Kyverno into ``parsed``, or say what is wrong with it or not taken."""
    value = document.value
    refused = _refused(value)
    if refused:
        yield at(document, "/kind", refused)
        return
    try:
        compiled = compile_exception(value) if value["kind"] == exceptions.KIND else compile_policy(value)
    except InvalidPolicy as error:
        flaws: list[Flaw] = error.flaws
        if value["kind"] in policy.KINDS and all(flaw.limit for flaw in flaws):
            flaws = [*flaws, *limits(value)]
    else:
        flaws = [] if isinstance(compiled, PolicyException) else list(limits(value))
        if not flaws:
            digest = sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()
            name = compiled.name if isinstance(compiled, PolicyException) else compiled.key
            parsed.append(Foreign(name, f"sha256:{digest}", compiled, document))
    for flaw in flaws:
        yield at(document, flaw.pointer, flaw.message, key=flaw.key)


def _refused(value: dict[str, Any]) -> str | None:
    """Why a document of Kyverno's groups is none of those that are taken."""
    kind, version = value.get("kind"), value["apiVersion"]
    taken = {**dict.fromkeys(policy.KINDS, policy.VERSIONS), exceptions.KIND: exceptions.VERSIONS}
    if kind not in taken or version.startswith(_CEL_GROUP):
        return f"{kind} of {version} is not supported; of Kyverno's documents {', '.join(taken)} are"
    if version not in taken[kind]:
        return f"{kind} of {version} is not supported; {' and '.join(taken[kind])} are"
    return None


def foreign_clashes(parsed: list[Foreign]) -> Iterator[Problem]:
    """Documents of one name, and exceptions from what there is not."""
    first: dict[tuple[type, str], Foreign] = {}
    for each in parsed:
        key = (type(each.compiled), each.name)
        if key in first:
            known = first[key]
            line = known.document.locate("/metadata/name", key=True).line
            said = f'a second document is named "{each.name}"; the first is at {known.document.name}:{line}'
            yield at(each.document, "/metadata/name", said, key=True)
        first.setdefault(key, each)
    rules = {
        each.key: [rule.name for rule in each.rules]
        for each in (entry.compiled for entry in parsed)
        if isinstance(each, ClusterPolicy)
    }
    for each in parsed:
        if isinstance(each.compiled, PolicyException):
            yield from _unknown(each, each.compiled, rules)


def _unknown(each: Foreign, exception: PolicyException, rules: dict[str, list[str]]) -> Iterator[Problem]:
    for index, (policy_name, patterns) in enumerate(exception.covers):
        pointer = f"/spec/exceptions/{index}"
        known = rules.get(policy_name)
        if known is None:
            said = f'no ClusterPolicy or Policy named "{policy_name}" is among the documents'
            yield at(each.document, f"{pointer}/policyName", said)
            continue
        for position, pattern in enumerate(patterns):
            if not any(wildcard(pattern, rule) for rule in known):
                said = f'"{policy_name}" has no rule named "{pattern}"; it has {", ".join(known)}'
                yield at(each.document, f"{pointer}/ruleNames/{position}", said)
