"""Policy files -> one Policy. Everything that is wrong is reported at once, each at its file, line and column."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, Final

import orjson
from pydantic import ValidationError

from app.documents import Document, DocumentError, read
from app.policy.compile import compile_policy
from app.policy.compiled import Policy
from app.policy.consistency import clashes, never_applying, unknown_rules, unknown_workloads
from app.policy.errors import PolicyError, Problem
from app.policy.schema import API_VERSION, document_model
from app.policy.sources import Foreign, Parsed, at

_KYVERNO: Final = ("kyverno.io/", "policies.kyverno.io/")


def load(files: Iterable[tuple[str, bytes]]) -> Policy:
    """The policy that the files (name, content) make together; raises PolicyError."""
    problems: list[Problem] = []
    parsed: list[Parsed] = []
    foreign: list[Foreign] = []
    for name, content in files:
        found = False
        for document in read(content, name):
            found = True
            if isinstance(document, DocumentError):
                problems.append(Problem(document.name, document.line, document.column, document.message))
            elif _is_foreign(document.value):
                problems.extend(_parse_foreign(document, foreign))
            else:
                problems.extend(_parse(document, parsed))
        if not found:
            problems.append(
                Problem(
                    name, 1, 1, "the file holds no document; a policy needs a GpuPolicy, or a ClusterPolicy of Kyverno"
                )
            )
    parsed.sort(key=lambda entry: entry.name)
    foreign.sort(key=lambda entry: entry.name)
    problems.extend(clashes(parsed))
    if not problems:  # a document that cannot be used may hold the rule, or say what counts as a GPU
        problems.extend(_foreign_clashes(foreign))
        problems.extend(unknown_rules(parsed, foreign))
        problems.extend(never_applying(parsed))
        problems.extend(unknown_workloads(parsed))
    if problems or not (parsed or foreign):
        raise PolicyError(sorted(problems) or [Problem("policy", 1, 1, "there is no policy file")])
    return compile_policy(parsed, foreign)


def _is_foreign(value: dict[str, Any]) -> bool:
    """Whether a document is one of Kyverno's, taken or not."""
    version = value.get("apiVersion")
    return type(version) is str and version.startswith(_KYVERNO)


def _parse_foreign(document: Document, parsed: list[Foreign]) -> Iterator[Problem]:
    from app.policy.foreign import parse_foreign  # see app.policy.compiled

    return parse_foreign(document, parsed)


def _foreign_clashes(parsed: list[Foreign]) -> Iterator[Problem]:
    if parsed:
        from app.policy.foreign import foreign_clashes

        yield from foreign_clashes(parsed)


def _parse(document: Document, parsed: list[Parsed]) -> Iterator[Problem]:
    value = document.value
    for key, wanted in (("kind", "GpuPolicy"), ("apiVersion", API_VERSION)):
        if value.get(key) != wanted:
            found = f"{key} is {orjson.dumps(value[key]).decode()}" if key in value else f"{key} is missing"
            yield at(document, f"/{key}", f"not a policy: {found}, where {wanted} is expected")
            return
    try:
        model: Any = document_model().model_validate_json(orjson.dumps(value))
    except ValidationError as error:
        from app.policy.messages import flaw  # most policies have none

        for detail in error.errors(include_url=False):
            wrong = flaw(value, detail)
            yield at(document, wrong.pointer, wrong.message, key=wrong.at_key)
        return
    digest = sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()
    parsed.append(Parsed(model.metadata.name, f"sha256:{digest}", model.spec, document))
