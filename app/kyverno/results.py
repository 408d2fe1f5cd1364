"""What the checks of a rule say, before it becomes the rule's result."""

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from app.kyverno.patterns import ABSENT, Mismatch
from app.kyverno.types import Status
from app.model.patch import unescape

if TYPE_CHECKING:
    from app.kyverno.variables import Variables

_LONGEST: Final = 80


class Outcome(NamedTuple):
    """A status, what to say about it, and the field that it is about (JSON Pointer).

    ``variables`` are those of the element that it is about, for the message of the rule.
    """

    status: Status
    message: str = ""
    pointer: str = ""
    variables: "Variables | None" = None


PASSED: Final = Outcome("pass")


def said(mismatch: Mismatch, base: str = "") -> str:
    """The mismatch in words: ``spec.containers[0].image is "nginx:latest"; "!*:latest" is wanted``."""
    place = spelled(base + mismatch.pointer) or "the resource"
    if mismatch.wanted is ABSENT:
        return f"{place} must not be there"
    found = "is missing" if mismatch.found is None else f"is {_shown(mismatch.found)}"
    return f"{place} {found}; {_wanted(mismatch.wanted)}"


def spelled(pointer: str) -> str:
    """A JSON Pointer as people write paths: ``spec.containers[0].resources.limits["nvidia.com/gpu"]``."""
    text = ""
    for token in map(unescape, pointer.split("/")[1:]):
        if token.isdecimal():
            text += f"[{token}]"
        elif "." in token or "/" in token or not token:
            text += f"[{json.dumps(token, ensure_ascii=False)}]"
        else:
            text += f".{token}" if text else token
    return text


def _wanted(wanted: Any) -> str:
    return "nothing is wanted there" if wanted is None else f"{_shown(wanted)} is wanted"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
