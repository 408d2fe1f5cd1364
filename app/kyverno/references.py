"""References of a pattern to another place in it: ``$(./../requests/memory)``, ``$(<=./../limits/cpu)``.

Source: kyverno pkg/engine/variables/vars.go. Anchors play no part in the path; what is referred to must be text, or
with an operator a number too.
"""

import re
from posixpath import normpath
from typing import Any, Final

from app.kyverno import anchors
from app.kyverno.types import Flaw
from app.model.patch import escape

Path = tuple[str, ...]

_REFERENCE: Final = re.compile(r"(^|[^\\])\$\((.[^ ]*)\)")
_COMPARISON: Final = re.compile(r"(>=|<=|>|<|!)?(.*)", re.DOTALL)


def resolved(document: Any, pointer: str, flaws: list[Flaw], depth: int) -> Any:
    """The document with each ``$(./path)`` replaced by what stands at that path of it, down to a depth of levels."""
    return _resolved(document, document, (), pointer, flaws, depth)


def _resolved(value: Any, document: Any, path: Path, pointer: str, flaws: list[Flaw], depth: int) -> Any:
    if type(value) is str:
        return (
            _REFERENCE.sub(lambda found: _referred(found, document, path, pointer, flaws), value).replace("\\$(", "$(")
            if "$(" in value
            else value
        )
    if len(path) > depth:
        return value  # said by who compiles it
    if type(value) is list:
        return [
            _resolved(item, document, (*path, str(index)), f"{pointer}/{index}", flaws, depth)
            for index, item in enumerate(value)
        ]
    if type(value) is dict:
        return {
            key: _resolved(item, document, (*path, anchors.plain(key)), f"{pointer}/{escape(key)}", flaws, depth)
            for key, item in value.items()
        }
    return value


def _referred(found: re.Match[str], document: Any, path: Path, pointer: str, flaws: list[Flaw]) -> str:
    operator, place = _COMPARISON.fullmatch(found[2]).groups()  # type: ignore[union-attr]  # matches any text
    wanted = normpath(place if place.startswith("/") else "/".join(("", *path, place)))
    value = document
    for token in wanted.strip("/").split("/"):
        if type(value) is dict:
            value = next((item for key, item in value.items() if anchors.plain(key) == token), None)
        elif type(value) is list:
            value = value[int(token)] if token.isdecimal() and int(token) < len(value) else None
        else:
            value = None
    if type(value) is str or (operator and type(value) in (int, float)):
        return f"{found[1]}{operator or ''}{value}"
    flaws.append(Flaw(pointer, f"$({found[2]}) refers to {wanted} of this pattern, where there is no text"))
    return found[0]
