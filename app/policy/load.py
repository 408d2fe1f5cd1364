"""Policy files -> one Policy. Everything that is wrong is reported at once, each at its file, line and column."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import lru_cache
from hashlib import sha256
from typing import Any

import orjson
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from app.documents import Document, DocumentError, read
from app.model.patch import escape
from app.policy.compile import compile_policy
from app.policy.compiled import Policy
from app.policy.errors import PolicyError, Problem
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
    if problems or not parsed:
        raise PolicyError(sorted(problems) or [Problem("policy", 1, 1, "there is no policy file")])
    return compile_policy(parsed)


def _parse(document: Document, parsed: list[Parsed]) -> Iterator[Problem]:
    value = document.value
    kind, version = value.get("kind"), value.get("apiVersion")
    if kind != "GpuPolicy" or version != API_VERSION:
        shown = f"kind {kind!r} of apiVersion {version!r}"
        pointer = "/apiVersion" if kind == "GpuPolicy" else "/kind"
        yield _at(document, pointer, f"expected kind GpuPolicy of apiVersion {API_VERSION}, found {shown}")
        return
    try:
        model: Any = document_model().model_validate_json(orjson.dumps(value))
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            pointer = _pointer(value, detail["loc"])
            yield _at(document, pointer, _message(detail), key=detail["type"] in _AT_KEY)
        return
    digest = sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()
    parsed.append(Parsed(model.metadata.name, f"sha256:{digest}", model.spec, document))


def _clashes(parsed: list[Parsed]) -> Iterator[Problem]:
    """What is right in each document and wrong in all of them together."""
    names: dict[str, Parsed] = {}
    sections: dict[str, Parsed] = {}
    entries: dict[tuple[str, str], Parsed] = {}
    for each in parsed:
        if each.name in names:
            yield _again(each, "/metadata/name", f'a second document is named "{each.name}"', names[each.name])
        names.setdefault(each.name, each)
        for section in _SINGLE:
            if getattr(each.spec, section) is None:
                continue
            if section in sections:
                yield _again(each, f"/spec/{section}", f"{section} stands in a second document", sections[section])
            sections.setdefault(section, each)
        for kind, pointer, name in _named(each):
            if (kind, name) in entries:
                yield _again(each, pointer, f'a second {kind} is named "{name}"', entries[kind, name])
            entries.setdefault((kind, name), each)
    rules = sorted(name for kind, name in entries if kind == "rule")
    for each in parsed:
        for index, exception in enumerate(each.spec.exceptions):
            for position, name in enumerate(exception.rules):
                if name not in rules:
                    said = f'the policy has no rule named "{name}"; it has {", ".join(rules) or "none"}'
                    yield _at(each.document, f"/spec/exceptions/{index}/rules/{position}", said)


def _named(parsed: Parsed) -> Iterator[tuple[str, str, str]]:
    """The (kind, pointer, name) of everything that needs a name of its own. Findings carry both rules' and
    injections' names, so they share one space."""
    for index, rule in enumerate(parsed.spec.rules):
        yield "rule", f"/spec/rules/{index}/{'name' if rule.name else 'rule'}", rule.name or rule.rule
    for index, injection in enumerate(parsed.spec.inject):
        yield "rule", f"/spec/inject/{index}/name", injection.name
    for index, exception in enumerate(parsed.spec.exceptions):
        yield "exception", f"/spec/exceptions/{index}/name", exception.name


def _again(parsed: Parsed, pointer: str, message: str, first: Parsed) -> Problem:
    where = f"{first.document.name}:{first.document.line}"
    return _at(parsed.document, pointer, f"{message}; the first is in the document at {where}", key=True)


def _at(document: Document, pointer: str, message: str, *, key: bool = False) -> Problem:
    region = document.locate(pointer, key=key)
    return Problem(document.name, region.line, region.column, message)


# Errors about a key rather than its value.
_AT_KEY = frozenset(("extra_forbidden", "unexpected_keyword_argument", "missing"))


def _pointer(value: Any, location: tuple[int | str, ...]) -> str:
    """The JSON Pointer of a pydantic location, without the steps that name a choice of model."""
    pointer = ""
    for position, step in enumerate(location):
        in_list = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if in_list or (isinstance(value, dict) and step in value):
            value = value[step]
        elif position < len(location) - 1 or step == "[key]":
            continue
        pointer += f"/{escape(str(step))}"
    return pointer


def _message(detail: ErrorDetails) -> str:
    last, kind = str(detail["loc"][-1]), detail["type"]
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        close = get_close_matches(last, _keys(), n=1)
        return f'unknown key "{last}"' + (f'; did you mean "{close[0]}"?' if close else "")
    if kind == "missing":
        return f'"{last}" is missing'
    if kind == "union_tag_invalid":
        context = detail["ctx"]
        return f'there is no rule "{context["tag"]}"; the rules are {context["expected_tags"]}'
    if kind == "union_tag_not_found":
        return '"rule" is missing: it says which rule this is'
    message = detail["msg"].removeprefix("Value error, ").replace("Input should be", "should be")
    found = detail["input"]
    shown = f", found {found!r}" if isinstance(found, str | int | float | bool | None) else ""
    return f"{last}: {message}{shown}" if kind != "value_error" else f"{last}: {message}"


@lru_cache(maxsize=1)
def _keys() -> list[str]:
    """Every key that a policy may hold somewhere."""
    definitions = document_model().model_json_schema()["$defs"].values()
    return sorted({key for definition in definitions for key in definition.get("properties", {})})
