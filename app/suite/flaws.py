"""What pydantic finds wrong with a PolicyTest, in the document's own words and at its own places."""

from collections.abc import Iterator
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from app.documents import Document
from app.model.patch import escape
from app.policy.errors import Problem
from app.policy.messages import unknown_key, wrong
from app.policy.schema import Metadata
from app.policy.sources import at
from app.suite.schema import CaseModel, Expect, ExpectedFinding, PolicyTest, Selection, UserInfo, nulls

# The model that stands under a key, or is one of the forms of a value.
_MODELS: Final[dict[str, type[BaseModel]]] = {
    "metadata": Metadata,
    "cases": CaseModel,
    "selection": Selection,
    "userInfo": UserInfo,
    "expect": Expect,
    "findings": ExpectedFinding,
    "findingsInclude": ExpectedFinding,
}


def flaws(document: Document, error: ValidationError) -> Iterator[Problem]:
    """Everything that is wrong with the document."""
    emptied = set(nulls(document.value))
    for pointer in sorted(emptied):
        yield at(document, pointer, f"{pointer.rpartition('/')[2]}: is null; write a value, or leave it out")
    said = emptied
    for detail in error.errors(include_url=False):
        pointer, at_key, message = _flaw(document.value, detail)
        if (
            pointer not in said and detail["type"] != "none_required"
        ):  # a value that fits no form is wrong for each of them
            yield at(document, pointer, message, key=at_key)
        said.add(pointer)


def _flaw(value: Any, detail: ErrorDetails) -> tuple[str, bool, str]:
    """The pointer, whether it is about the key there, and what is wrong."""
    location, kind = detail["loc"], detail["type"]
    pointer, last = _pointer(value, location)
    if kind == "extra_forbidden":
        return pointer, True, _unknown_key(location)
    if kind == "missing":
        return pointer, True, f'"{location[-1]}" is missing'
    return pointer, location[-1] == "[key]", f"{last}: {wrong(detail)}"


def _unknown_key(location: tuple[int | str, ...]) -> str:
    inside = next((_MODELS[str(step)] for step in reversed(location[:-1]) if step in _MODELS), PolicyTest)
    known = [field.alias or name for name, field in inside.model_fields.items()]
    return unknown_key(str(location[-1]), known)


def _pointer(value: Any, location: tuple[int | str, ...]) -> tuple[str, str]:
    """The JSON Pointer of a pydantic location, without the steps that name a form of a value, and its last key."""
    pointer = label = ""
    for position, step in enumerate(location):
        there = step in value if isinstance(value, dict) else isinstance(value, list) and step in range(len(value))
        if there:
            value = value[step]
            label = step if isinstance(step, str) else label
        if there or (position == len(location) - 1 and isinstance(value, dict) and step != "[key]"):
            pointer += f"/{escape(str(step))}"
    return pointer, label
