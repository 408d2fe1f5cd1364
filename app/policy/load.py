"""Policy files -> one Policy. Everything that is wrong is reported at once, each at its file, line and column."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

import orjson
from pydantic import ValidationError

from app.documents import Document, DocumentError, read
from app.policy.compile import compile_policy
from app.policy.compiled import Policy
from app.policy.errors import PolicyError, Problem
from app.policy.messages import flaw
from app.policy.schema import API_VERSION, document_model
from app.policy.sources import Parsed

_SINGLE = ("gpus", "modes", "exempt", "workloads")


def load(files: Iterable[tuple[str, bytes]]) -> Policy:
    """The policy that the files (name, content) make together; raises PolicyError."""
    problems: list[Problem] = []
    parsed: list[Parsed] = []
    for name, content in files:
        found = False
        for document in read(content, name):
            found = True
            if isinstance(document, DocumentError):
                problems.append(Problem(document.name, document.line, document.column, document.message))
            else:
                problems.extend(_parse(document, parsed))
        if not found:
            problems.append(Problem(name, 1, 1, "the file holds no document; a policy needs at least one GpuPolicy"))
    parsed.sort(key=lambda entry: entry.name)
    problems.extend(_clashes(parsed))
    if not problems:  # a document that cannot be used may hold the rule
        problems.extend(_unknown_rules(parsed))
    if problems or not parsed:
        raise PolicyError(sorted(problems) or [Problem("policy", 1, 1, "there is no policy file")])
    return compile_policy(parsed)


def _parse(document: Document, parsed: list[Parsed]) -> Iterator[Problem]:
    value = document.value
    for key, wanted in (("kind", "GpuPolicy"), ("apiVersion", API_VERSION)):
        if value.get(key) != wanted:
            found = f"{key} is {orjson.dumps(value[key]).decode()}" if key in value else f"{key} is missing"
            yield _at(document, f"/{key}", f"not a policy: {found}, where {wanted} is expected")
            return
    try:
        model: Any = document_model().model_validate_json(orjson.dumps(value))
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            wrong = flaw(value, detail)
            yield _at(document, wrong.pointer, wrong.message, key=wrong.at_key)
        return
    digest = sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()
    parsed.append(Parsed(model.metadata.name, f"sha256:{digest}", model.spec, document))


def _clashes(parsed: list[Parsed]) -> Iterator[Problem]:
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


def _unknown_rules(parsed: list[Parsed]) -> Iterator[Problem]:
    """Exceptions for rules that no document has."""
    names = {name for each in parsed for kind, name, _ in _single(each) if kind == "rule or injection"}
    for each in parsed:
        for index, exception in enumerate(each.spec.exceptions):
            for position, name in enumerate(exception.rules):
                if name not in names:
                    said = f'the policy has no rule named "{name}"; it has {", ".join(sorted(names)) or "none"}'
                    yield _at(each.document, f"/spec/exceptions/{index}/rules/{position}", said)


def _again(parsed: Parsed, pointer: str, kind: str, name: str, first: str) -> Problem:
    if kind == "section":
        said = f"{name} may stand in one document only; the first is at {first}"
    else:
        said = f'a second {kind} is named "{name}"; the first is at {first}'
    return _at(parsed.document, pointer, said, key=True)


def _line(parsed: Parsed, pointer: str) -> str:
    return f"{parsed.document.name}:{parsed.document.locate(pointer, key=True).line}"


def _at(document: Document, pointer: str, message: str, *, key: bool = False) -> Problem:
    region = document.locate(pointer, key=key)
    return Problem(document.name, region.line, region.column, message)
