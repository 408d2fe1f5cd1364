"""What pydantic finds wrong with a document, in the document's own words and at its own places."""

from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final, NamedTuple

import orjson
from pydantic_core import ErrorDetails

from app.model.patch import escape
from app.model.words import quoted
from app.policy.schema import document_model
from app.rules.registry import RULES


class Flaw(NamedTuple):
    """One thing wrong: at which JSON Pointer, whether it is about the key there or the value, and what."""

    pointer: str
    at_key: bool
    message: str


_UNKNOWN_KEY: Final = ("extra_forbidden", "unexpected_keyword_argument")
_WANTED: Final[dict[str, str]] = {
    **dict.fromkeys(["model_type", "dataclass_type", "dict_type"], "a map"),
    **dict.fromkeys(["list_type", "tuple_type"], "a list"),
    **dict.fromkeys(["int_type", "int_from_float"], "a whole number"),
    "string_type": "text",
    "bool_type": "true or false",
}


def flaw(value: Any, detail: ErrorDetails) -> Flaw:
    """The flaw of the document ``value`` that pydantic describes."""
    location, kind = detail["loc"], detail["type"]
    pointer = _pointer(value, location)
    if kind == "union_tag_invalid":
        return Flaw(f"{pointer}/rule", at_key=False, message=_no_rule(detail["ctx"]["tag"]))
    if kind == "union_tag_not_found":
        return Flaw(pointer, at_key=False, message='"rule" is missing: it says which rule this is')
    if kind in _UNKNOWN_KEY:
        return Flaw(pointer, at_key=True, message=_unknown_key(location))
    if kind == "missing":
        return Flaw(pointer, at_key=True, message=_missing(location))
    return Flaw(pointer, at_key=location[-1] == "[key]", message=f"{_walk(location).label}: {wrong(detail)}")


def wrong(detail: ErrorDetails) -> str:
    """What is wrong with the value that pydantic describes."""
    kind, found = detail["type"], detail["input"]
    if kind == "value_error":
        return detail["msg"].removeprefix("Value error, ")
    if kind in ("too_short", "string_too_short"):
        return "should not be empty"
    if kind == "literal_error" and detail["loc"][-1] == "repair":
        return "this rule repairs nothing; leave it out"
    if kind == "literal_error":
        wanted = detail["ctx"]["expected"].replace("'", "")
        hint = " (what YAML makes of yes, no, on and off)" if isinstance(found, bool) else ""
        return f"should be {wanted}, found {_shown(found)}{hint}"
    hint = "; put it in quotes" if kind == "string_type" and isinstance(found, bool | int | float) else ""
    return f"should be {_WANTED[kind]}, found {_shown(found)}{hint}" if kind in _WANTED else detail["msg"]


def _shown(found: Any) -> str:
    return "a map" if isinstance(found, dict) else "a list" if isinstance(found, list) else orjson.dumps(found).decode()


def _no_rule(name: str) -> str:
    close = get_close_matches(name, RULES, n=1)
    return f"there is no rule {quoted(name)}; " + (
        f'did you mean "{close[0]}"?' if close else f"the rules are {', '.join(RULES)}"
    )


def _unknown_key(location: tuple[int | str, ...]) -> str:
    return unknown_key(str(location[-1]), _walk(location[:-1]).keys)


def unknown_key(key: str, known: list[str]) -> str:
    """What to say of a key where only others are known."""
    if not known:
        return f"unknown key {quoted(key)}; there is none to write here"
    close = get_close_matches(key, known, n=1)
    return f"unknown key {quoted(key)}; " + (
        f'did you mean "{close[0]}"?' if close else f"known here: {', '.join(known)}"
    )


def _missing(location: tuple[int | str, ...]) -> str:
    said = f'"{location[-1]}" is missing'
    return f"{said}; it takes {', '.join(_walk(location).keys)}" if location[-1] == "with" else said


def _pointer(value: Any, location: tuple[int | str, ...]) -> str:
    """The JSON Pointer of a pydantic location, without the steps that name a choice of model or a key's own error."""
    pointer = ""
    for position, step in enumerate(location):
        there = step in value if isinstance(value, dict) else isinstance(value, list) and step in range(len(value))
        if there:
            value = value[step]
        if there or (position == len(location) - 1 and step != "[key]"):
            pointer += f"/{escape(str(step))}"
    return pointer


class _Field(NamedTuple):
    """A place in the schema: how to call it, and the keys that may stand in it."""

    label: str
    keys: list[str]


def _walk(location: tuple[int | str, ...]) -> _Field:
    """Follow a pydantic location through the JSON Schema."""
    schema = _schema()
    label = container = ""
    node: dict[str, Any] = schema
    for step in location:
        properties = node.get("properties", {})
        if step == "[key]":
            label = container
        elif step in properties:
            label = container = str(step)
            node = properties[step]
        elif "discriminator" in node:
            node = {"$ref": node["discriminator"]["mapping"][step]}
        elif isinstance(step, int):
            label += f"[{step}]"
            node = node["items"]
        else:
            container, label = label, f"{label}[{quoted(step)}]"
            node = node["additionalProperties"]
        while "$ref" in node:
            node = schema["$defs"][node["$ref"].rpartition("/")[2]]
    return _Field(label, list(node.get("properties", {})))


@lru_cache(maxsize=1)
def _schema() -> dict[str, Any]:
    return document_model().model_json_schema()
