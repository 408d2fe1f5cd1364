"""Functions of text that Kyverno adds."""

import posixpath
from typing import Any

from app.kyverno.expressions.errors import EvaluationError
from app.kyverno.expressions.functions import declared
from app.kyverno.gojson import number
from app.kyverno.image_reference import normalized
from app.kyverno.semver import Version, version, version_range
from app.kyverno.values import wildcard


def text_of(value: Any) -> str:
    """Text, a number or a boolean as text; raises EvaluationError for what is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return number(value)
    raise EvaluationError("only text and numbers can be used there")


@declared("string", "string")
def compare(one: str, other: str) -> int:
    """-1, 0 or 1: how the texts are ordered, by their bytes."""
    return (one > other) - (one < other)


@declared("string", "string")
def equal_fold(one: str, other: str) -> bool:
    """Whether the texts differ in case at most."""
    return one.casefold() == other.casefold()


@declared("string", "string", "string", "number")
def replace(text: str, old: str, new: str, count: float) -> str:
    """The text with the first ``count`` occurrences replaced, or all for a negative one."""
    return text.replace(old, new, int(count))


@declared("string", "string", "string")
def replace_all(text: str, old: str, new: str) -> str:
    """The text with every occurrence replaced."""
    return text.replace(old, new)


@declared("string")
def to_upper(text: str) -> str:
    """The text in capitals."""
    return text.upper()


@declared("string")
def to_lower(text: str) -> str:
    """The text in small letters."""
    return text.lower()


@declared("string", "string")
def trim(text: str, characters: str) -> str:
    """The text without any of the characters at its ends."""
    return text.strip(characters) if characters else text


@declared("string", "string")
def trim_prefix(text: str, prefix: str) -> str:
    """The text without the prefix, if it has it."""
    return text.removeprefix(prefix)


@declared("string", "string")
def split(text: str, separator: str) -> list[str]:
    """The parts between separators; without one, the characters."""
    return text.split(separator) if separator else list(text)


@declared("string", "number")
def truncate(text: str, length: float) -> str:
    """The first characters of the text."""
    return text[: max(0, int(length))]


@declared("string", "string|number")
def pattern_match(pattern: str, value: Any) -> bool:
    """Whether the value matches the pattern with ``*`` and ``?``."""
    return wildcard(pattern, text_of(value))


@declared("string")
def to_boolean(text: str) -> bool:
    """True or false, in whatever case it is written."""
    match text.lower():
        case "true":
            return True
        case "false":
            return False
        case _:
            raise EvaluationError(f'"{text}" is neither true nor false')


@declared("string")
def path_canonicalize(path: str) -> str:
    """The path without double slashes, ``.`` and ``..``."""
    cleaned = posixpath.normpath(path) if path else ""
    return "/" + cleaned.lstrip("/") if cleaned.startswith("/") else cleaned


@declared("string", "string")
def semver_compare(found: str, wanted: str) -> bool:
    """Whether a version is in a range; one that is none counts as 0.0.0, as it does in Kyverno."""
    return version_range(wanted)(version(found) or Version(0, 0, 0))


@declared("string")
def image_normalize(image: str) -> str:
    """The image with its registry and tag written out."""
    return normalized(image)
