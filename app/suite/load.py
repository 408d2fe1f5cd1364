"""PolicyTest files to suites. Everything that is wrong is reported at once, each at its file, line and column."""

import os.path
from collections.abc import Iterator

import orjson
from pydantic import ValidationError

from app.documents import Document, DocumentError, read
from app.model.patch import escape
from app.policy.errors import Problem
from app.policy.schema import API_VERSION
from app.policy.sources import at
from app.suite.case import Case, Place, Question, Reference, Suite
from app.suite.expected import Expected
from app.suite.flaws import flaws
from app.suite.schema import KIND, CaseModel, Inline, Object, PolicyTest, Selection, nulls

_GROUP = API_VERSION.partition("/")[0] + "/"
SHIPPED = "shipped"


def may_hold_tests(content: bytes) -> bool:
    """False for a file that need not be parsed to know that it holds no PolicyTest."""
    return _GROUP.encode() in content or KIND.encode() in content


def load(name: str, content: bytes, *, wanted: bool) -> Iterator[Suite | Problem]:
    """The PolicyTest documents of a file; nothing for a file that holds other things, unless tests are ``wanted``."""
    documents = list(read(content, name))
    tests = [each for each in documents if isinstance(each, Document) and _is_test(each)]
    found = False
    for each in documents:
        if isinstance(each, DocumentError):
            # What cannot be read may be a test, where the file speaks of one.
            if tests or wanted or KIND.encode() in content:
                yield Problem(each.name, each.line, each.column, each.message)
                found = True
        elif each in tests:
            yield from _suite(each)
        elif tests or _is_strange(each):
            yield _strange(each)
            found = True
    if wanted and not tests and not found:
        yield Problem(name, 1, 1, f"holds no {KIND} ({API_VERSION})")


def _is_test(document: Document) -> bool:
    return document.value.get("kind") == KIND and str(document.value.get("apiVersion")).startswith(_GROUP)


def _is_strange(document: Document) -> bool:
    """True for a kind or a group that is misspelt: it must not pass for a file without tests."""
    group = str(document.value.get("apiVersion")).startswith(_GROUP)
    return document.value.get("kind") not in (KIND, "GpuPolicy") if group else document.value.get("kind") == KIND


def _strange(document: Document) -> Problem:
    found = " and ".join(f"{key} is {orjson.dumps(document.value.get(key)).decode()}" for key in ("apiVersion", "kind"))
    return at(document, "/kind", f"not a test: {found}, where {API_VERSION} and {KIND} are expected")


def _suite(document: Document) -> Iterator[Suite | Problem]:
    value = document.value
    try:
        model = PolicyTest.model_validate_json(orjson.dumps(value))
    except ValidationError as error:
        yield from sorted(flaws(document, error))
        return
    problems = [
        at(document, pointer, f"{pointer.rpartition('/')[2]}: is null; leave it out") for pointer in nulls(value)
    ]
    seen: set[str] = set()
    for index, each in enumerate(model.cases):
        if each.name in seen:
            problems.append(at(document, f"/cases/{index}/name", f'a second case is named "{each.name}"'))
        seen.add(each.name)
    if problems:
        yield from problems
        return
    folder = os.path.dirname(document.name)  # noqa: PTH120 - the path as it was given
    yield Suite(
        name=model.metadata.name,
        file=document.name,
        policies=tuple(each if each == SHIPPED else _beside(folder, each) for each in model.policies),
        cases=tuple(_case(document, folder, index, each) for index, each in enumerate(model.cases)),
    )


def _beside(folder: str, path: str) -> str:
    return os.path.normpath(os.path.join(folder, path))  # noqa: PTH118 - "../policy.yaml" is shown as people would


def _case(document: Document, folder: str, index: int, model: CaseModel) -> Case:
    pointer = f"/cases/{index}"

    def place(key: str) -> Place:
        region = document.locate(f"{pointer}/{escape(key)}", key=True)
        return Place(document.name, region.line, region.column)

    def reference(key: str, written: Object) -> Reference:
        if isinstance(written, str):
            return Reference(place(key), file=_beside(folder, written))
        if isinstance(written, Selection):
            file, chosen = _beside(folder, written.file), written
            return Reference(place(key), file, kind=chosen.kind, namespace=chosen.namespace, name=chosen.name)
        assert isinstance(written, Inline)
        return Reference(place(key), value=document.value["cases"][index][key])

    facts = model.cluster_facts
    question = Question(
        object=reference("object", model.object),
        old=None if model.old_object is None else reference("oldObject", model.old_object),
        operation=model.operation,
        mode=model.mode,
        labels=model.namespace_labels,
        namespace=model.namespace,
        user=model.user_info.username if model.user_info else None,
        today=model.now,
        facts=_beside(folder, facts) if isinstance(facts, str) else facts,
    )
    return Case(model.name, place("name"), question, Expected(model.expect, document, f"{pointer}/expect"))
