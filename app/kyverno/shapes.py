"""The shape of a document, checked while it is compiled: what Kyverno's CRD would refuse is a flaw at its place."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, TypeGuard

from app.documents.document import describe
from app.kyverno.types import Flaw
from app.model.patch import escape


def a_map(value: Any, pointer: str, flaws: list[Flaw], what: str) -> TypeGuard[dict[str, Any]]:
    """Whether the value is a map; a flaw if not. ``what`` is what it stands for: ``a rule``."""
    if type(value) is dict:
        return True
    flaws.append(Flaw(pointer, f"{what} must be an object, found {describe(value)}"))
    return False


def a_list(value: Any, pointer: str, flaws: list[Flaw], what: str) -> list[Any]:
    """The list; empty, with a flaw, for what is none."""
    if type(value) is list:
        return value
    flaws.append(Flaw(pointer, f"{what} must be a list, found {describe(value)}"))
    return []


def texts(value: Any, pointer: str, flaws: list[Flaw], what: str) -> tuple[str, ...]:
    """The texts of a list; none for null."""
    if value is None:
        return ()
    found = []
    for index, item in enumerate(a_list(value, pointer, flaws, what)):
        if type(item) is str:
            found.append(item)
        else:
            flaws.append(Flaw(f"{pointer}/{index}", f"{what} must be texts, found {describe(item)}"))
    return tuple(found)


def text_map(value: Any, pointer: str, flaws: list[Flaw], what: str) -> dict[str, str]:
    """The map of texts; empty for null."""
    if value is None or not a_map(value, pointer, flaws, what):
        return {}
    found = {}
    for key, item in value.items():
        if type(item) is str:
            found[key] = item
        else:
            flaws.append(Flaw(f"{pointer}/{escape(key)}", f"{what} must hold texts, found {describe(item)}"))
    return found


def only_keys(value: dict[str, Any], known: Iterable[str], pointer: str, flaws: list[Flaw], what: str) -> None:
    """A flaw for each key that is not among the known ones."""
    known = tuple(known)
    for key in value:
        if key not in known:
            said = f'{what} has no field "{key}"; {suggestion(key, known)}'
            flaws.append(Flaw(f"{pointer}/{escape(key)}", said, key=True))


def suggestion(word: Any, known: Iterable[str]) -> str:
    """``did you mean AnyIn?``, else ``it must be one of ...``."""
    known = tuple(known)
    if type(word) is str:
        lowered = {each.lower(): each for each in known}
        close = get_close_matches(word.lower(), lowered, 1)
        if close:
            return f"did you mean {lowered[close[0]]}?"
    return f"it must be one of {', '.join(known)}"
