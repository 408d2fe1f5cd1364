"""``kyverno-test.yaml`` to suites. Source of the schema: kyverno cmd/cli/kubectl-kyverno/apis/v1alpha1.

Keys are taken in any case, as Go takes them, and those that Kyverno no longer has too: ``resource``, ``namespace``,
``status`` and ``patchedResource`` of a result, and a test that has a ``name`` instead of a kind.
"""

import os.path
from collections.abc import Iterator
from typing import Any, Final

from app.documents import Document, DocumentError, read
from app.kyverno.shapes import a_list, a_map, only_keys, suggestion, texts
from app.kyverno.types import Flaw
from app.model.words import quoted
from app.policy.errors import Problem
from app.policy.sources import at
from app.suite.case import Failure, Place
from app.suite.kyverno_case import RESULTS, Assertion, KyvernoSuite, Row, Values
from app.suite.kyverno_values import parse_user, parse_values, read_user, read_values

GROUP: Final = "cli.kyverno.io/"
KIND: Final = "Test"
NAMES: Final = ("kyverno-test.yaml", "kyverno-test.yml")

_UNSUPPORTED: Final = (
    "jsonPayload", "jsonPayloads", "httpPayloads", "envoyPayloads", "apiCallResponses", "globalContextEntries",
    "targetResources", "clusterResources",
)  # fmt: skip
# Read by Kyverno for policies in CEL only, which are refused by name.
_FOR_CEL: Final = ("context", "paramResources")
_KEYS: Final = (
    "apiVersion", "kind", "metadata", "name", "policies", "resources", "variables", "userinfo", "exceptions", "values",
    "results", "checks", *_UNSUPPORTED, *_FOR_CEL,
)  # fmt: skip
_OTHER_POLICIES: Final = (
    "isValidatingPolicy", "isMutatingPolicy", "isGeneratingPolicy", "isDeletingPolicy", "isImageValidatingPolicy",
    "isValidatingAdmissionPolicy", "isMutatingAdmissionPolicy",
)  # fmt: skip
_GENERATED: Final = ("generatedResource", "generatedResources", "cloneSourceResource")
_RESULT: Final = (
    "policy", "rule", "kind", "result", "status", "resources", "resource", "namespace", "resourceSpecs", "operation",
    "patchedResources", "patchedResource", "failOnMissingResources", *_OTHER_POLICIES, *_GENERATED,
)  # fmt: skip
_SPECIFIED: Final = ("group", "version", "kind", "namespace", "subresource", "name")
_OPERATIONS: Final = ("CREATE", "UPDATE", "DELETE")


def may_hold(name: str, content: bytes) -> bool:
    """False for a file that need not be parsed to know that it holds no test of Kyverno."""
    return GROUP.encode() in content or os.path.basename(name) in NAMES  # noqa: PTH119


def load(name: str, content: bytes) -> Iterator[KyvernoSuite | Problem]:
    """The tests in a file; nothing for a file that holds other things."""
    named = os.path.basename(name) in NAMES  # noqa: PTH119
    for each in read(content, name):
        if isinstance(each, DocumentError):
            if named:
                yield Problem(each.name, each.line, each.column, each.message)
        elif _is_test(each.value, named=named):
            yield _suite(each)


def _is_test(value: dict[str, Any], *, named: bool) -> bool:
    if str(value.get("apiVersion", "")).startswith(GROUP):
        return value.get("kind") == KIND
    return named and "apiVersion" not in value and "results" in value


def _suite(document: Document) -> KyvernoSuite:
    flaws: list[Flaw] = []
    value = _spelled(document.value, _KEYS)
    only_keys(value, _KEYS, "", flaws, "a test")
    flaws += [Flaw(f"/{key}", f"{key} is not supported", key=True) for key in _UNSUPPORTED if value.get(key)]
    if value.get("checks"):
        flaws.append(Flaw("/checks", "checks are not supported; write what is expected in results", key=True))
    folder = os.path.dirname(document.name)  # noqa: PTH120 - the path as it was given
    rows = [
        row
        for index, each in enumerate(a_list(value.get("results") or [], "/results", flaws, "results"))
        if (row := _row(each, f"/results/{index}", folder, document, flaws)) is not None
    ]
    values, attributes = _given(value, folder, flaws)
    paths = {key: _paths(value, key, folder, flaws) for key in ("policies", "resources", "exceptions")}
    if not flaws and not rows:
        flaws.append(Flaw("/results", "there are no results, so the test asserts nothing"))
    metadata = value.get("metadata")
    name = value.get("name") or (metadata.get("name") if isinstance(metadata, dict) else None)
    return KyvernoSuite(
        str(name or folder or document.name),
        document.name,
        paths["policies"],
        tuple(case for row in rows for case in _assertions(row)),
        Place(document.name, document.line),
        paths["resources"],
        paths["exceptions"],
        values,
        attributes,
        tuple(failure(document, flaw) for flaw in flaws),
    )


def failure(document: Document, flaw: Flaw) -> Failure:
    """What is wrong with a document, at its place in the file."""
    found = at(document, flaw.pointer, flaw.message, key=flaw.key)
    return Failure(Place(found.file, found.line, found.column), found.message)


def _given(value: dict[str, Any], folder: str, flaws: list[Flaw]) -> tuple[Values, dict[str, Any]]:
    """The variables, and who makes the requests; each from a file of its own, or in the test."""
    values, attributes = Values(), dict[str, Any]()
    file, user = value.get("variables"), value.get("userinfo")
    if value.get("values") is not None:
        values = parse_values(value["values"], "/values", flaws)
    if isinstance(file, str) and file:
        values = read_values(_beside(folder, file), "/variables", flaws)
    elif file is not None and file != "":
        flaws.append(Flaw("/variables", "variables must be the path of a file"))
    if isinstance(user, str) and user:
        attributes = read_user(_beside(folder, user), "/userinfo", flaws)
    elif user is not None and user != "":
        attributes = parse_user(user, "/userinfo", flaws)
    return values, attributes


def _row(value: Any, pointer: str, folder: str, document: Document, flaws: list[Flaw]) -> Row | None:
    if not a_map(value, pointer, flaws, "a result"):
        return None
    value = _spelled(value, _RESULT)
    only_keys(value, _RESULT, pointer, flaws, "a result")
    result, operation = value.get("result") or value.get("status"), value.get("operation")
    if result not in RESULTS:
        flaws.append(Flaw(f"{pointer}/result", f'a result cannot be "{result}"; {suggestion(result, RESULTS)}'))
    if operation is not None and operation not in _OPERATIONS:
        said = f'an operation cannot be "{operation}"; {suggestion(operation, _OPERATIONS)}'
        flaws.append(Flaw(f"{pointer}/operation", said))
    if not isinstance(value.get("policy"), str) or not value["policy"]:
        flaws.append(Flaw(pointer, "a result needs the name of a policy"))
    patched = value.get("patchedResources") or value.get("patchedResource")
    region = document.locate(pointer)
    return Row(
        Place(document.name, region.line, region.column),
        str(value.get("policy", "")),
        str(value.get("rule") or ""),
        str(value.get("kind") or ""),
        str(result),
        _names(value, pointer, flaws),
        str(value.get("namespace") or ""),
        operation,
        _beside(folder, patched) if isinstance(patched, str) else None,
        value.get("failOnMissingResources") is True,
        _refused(value),
    )


def _names(value: dict[str, Any], pointer: str, flaws: list[Flaw]) -> tuple[str, ...]:
    names = list(texts(value.get("resources"), f"{pointer}/resources", flaws, "resources"))
    if isinstance(value.get("resource"), str):
        names.append(value["resource"])
    specified = value.get("resourceSpecs")
    for index, each in enumerate([] if specified is None else a_list(specified, pointer, flaws, "resourceSpecs")):
        entry = f"{pointer}/resourceSpecs/{index}"
        if a_map(each, entry, flaws, "an entry of resourceSpecs"):
            only_keys(each, _SPECIFIED, entry, flaws, "an entry of resourceSpecs")
            namespace = each.get("namespace")
            names.append(f"{namespace}/{each.get('name')}" if namespace else str(each.get("name")))
    return tuple(names)


def _refused(value: dict[str, Any]) -> str | None:
    for key in _OTHER_POLICIES:
        if value.get(key):
            kind = key.removeprefix("is")
            return f"the policy {quoted(str(value.get('policy')))} is a {kind}, which is not supported"
    for key in _GENERATED:
        if value.get(key):
            return f"{key}: rules that make other objects are not supported"
    return None


def _assertions(row: Row) -> Iterator[Assertion]:
    for resource in row.names or ("",):
        parts = [row.policy, row.rule, row.kind, resource]
        yield Assertion("/".join(part for part in parts if part), row.place, row, resource)


def _paths(value: dict[str, Any], key: str, folder: str, flaws: list[Flaw]) -> tuple[str, ...]:
    found = texts(value.get(key), f"/{key}", flaws, key)
    for index, path in enumerate(found):
        if "://" in path or path.startswith("github.com/"):
            flaws.append(Flaw(f"/{key}/{index}", f"{path} is not fetched; write the path of a file"))
    return tuple(_beside(folder, path) for path in found)


def _beside(folder: str, path: str) -> str:
    return os.path.normpath(os.path.join(folder, path))  # noqa: PTH118 - "../policy.yaml" is shown as people would


def _spelled(value: dict[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    """The map with the keys as they are documented, in whatever case they were written."""
    lowered = {key.lower(): key for key in known}
    return {key if key in known else lowered.get(key.lower(), key): item for key, item in value.items()}
