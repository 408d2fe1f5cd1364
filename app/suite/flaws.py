"""What pydantic finds wrong with a PolicyTest, in the document's own words and at its own places."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Final

import orjson
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from app.documents import Document
from app.model.patch import escape
from app.model.words import quoted
from app.policy.errors import Problem
from app.policy.schema import Metadata
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
_WANTED: Final = {
    "model_type": "a map",
    "dict_type": "a map",
    "list_type": "a list",
    "string_type": "text",
    "bool_type": "true or false",
}


def flaws(document: Document, error: ValidationError) -> Iterator[Problem]:
    """Everything that is wrong with the document."""
    emptied = set(nulls(document.value))
    for pointer in sorted(emptied):
        yield problem(document, pointer, f"{pointer.rpartition('/')[2]}: is null; write a value, or leave it out")
    said = emptied
    for detail in error.errors(include_url=False):
        pointer, at_key, message = _flaw(document.value, detail)
        if (
            pointer not in said and detail["type"] != "none_required"
        ):  # a value that fits no form is wrong for each of them
            yield problem(document, pointer, message, key=at_key)
        said.add(pointer)


def problem(document: Document, pointer: str, message: str, *, key: bool = False) -> Problem:
    """Something wrong at a pointer of the document."""
    region = document.locate(pointer, key=key)
    return Problem(document.name, region.line, region.column, message)


def _flaw(value: Any, detail: ErrorDetails) -> tuple[str, bool, str]:
    """The pointer, whether it is about the key there, and what is wrong."""
    location, kind = detail["loc"], detail["type"]
    pointer, last = _pointer(value, location)
    if kind == "extra_forbidden":
        return pointer, True, _unknown_key(location)
    if kind == "missing":
        return pointer, True, f'"{location[-1]}" is missing'
    if kind == "value_error":
        return pointer, False, f"{last}: {detail['msg'].removeprefix('Value error, ')}"
    if kind in ("too_short", "string_too_short"):
        return pointer, False, f"{last}: should not be empty"
    if kind == "literal_error":
        wanted = detail["ctx"]["expected"].replace("'", "")
        hint = " (what YAML makes of yes, no, on and off)" if isinstance(detail["input"], bool) else ""
        return pointer, False, f"{last}: should be {wanted}, found {_shown(detail['input'])}{hint}"
    if kind in _WANTED:
        return pointer, False, f"{last}: should be {_WANTED[kind]}, found {_shown(detail['input'])}"
    return pointer, location[-1] == "[key]", f"{last}: {detail['msg']}"


def _unknown_key(location: tuple[int | str, ...]) -> str:
    inside = next((_MODELS[str(step)] for step in reversed(location[:-1]) if step in _MODELS), PolicyTest)
    known = [field.alias or name for name, field in inside.model_fields.items()]
    key = str(location[-1])
    close = get_close_matches(key, known, n=1)
    return f"unknown key {quoted(key)}; " + (
        f'did you mean "{close[0]}"?' if close else f"known here: {', '.join(known)}"
    )


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


def _shown(found: Any) -> str:
    return "a map" if isinstance(found, dict) else "a list" if isinstance(found, list) else orjson.dumps(found).decode()
