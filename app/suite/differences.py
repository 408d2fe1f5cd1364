"""Where an object differs from what was wanted of it."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from app.model.patch import escape

_LONGEST = 200


class Difference(NamedTuple):
    """A place in the wanted object, and what is there instead, both in JSON."""

    pointer: str
    found: str
    wanted: str


class _Absent:
    """The value of a key that is not there."""


_ABSENT = _Absent()


def differences(found: Any, wanted: Any, *, exact: bool, pointer: str = "") -> Iterator[Difference]:
    """Where ``found`` is not what was ``wanted``.

    ``exact``: nothing else may be there. Otherwise ``wanted`` is a part: keys that it does not name may have any
    value, null is a key that is not there, and in a list of maps with names (containers, env, volumes) it names those
    that it is about. Other lists are compared as a whole, entry by entry.
    """
    if isinstance(found, dict) and isinstance(wanted, dict):
        for key, value in wanted.items():
            yield from differences(found.get(key, _ABSENT), value, exact=exact, pointer=f"{pointer}/{escape(key)}")
        if exact:
            for key in found.keys() - wanted.keys():
                yield Difference(f"{pointer}/{escape(key)}", _shown(found[key]), _shown(_ABSENT))
    elif isinstance(found, list) and isinstance(wanted, list):
        yield from _lists(found, wanted, exact, pointer)
    elif not exact and wanted is None and isinstance(found, _Absent):
        return
    elif type(found) is not type(wanted) or found != wanted:
        yield Difference(pointer, _shown(found), _shown(wanted))


def _lists(found: list[Any], wanted: list[Any], exact: bool, pointer: str) -> Iterator[Difference]:
    if not exact and wanted and _named(found) and _named(wanted):
        there = {entry["name"]: entry for entry in found}
        for index, entry in enumerate(wanted):
            at = f"{pointer}/{index}"
            if entry["name"] in there:
                yield from differences(there[entry["name"]], entry, exact=False, pointer=at)
            else:
                yield Difference(f"{at}/name", _shown(list(there)), _shown(entry["name"]))
    elif len(found) != len(wanted):
        yield Difference(pointer, _shown(found), _shown(wanted))
    else:
        for index, (there, entry) in enumerate(zip(found, wanted, strict=True)):
            yield from differences(there, entry, exact=exact, pointer=f"{pointer}/{index}")


def _named(entries: list[Any]) -> bool:
    return all(isinstance(entry, dict) and isinstance(entry.get("name"), str) for entry in entries)


def _shown(value: Any) -> str:
    if isinstance(value, _Absent):
        return "nothing"
    text = orjson.dumps(value).decode()
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
