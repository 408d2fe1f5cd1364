"""Patterns of names in a policy: ``*`` stands for any text, ``?`` for one character; the whole name must match."""

import re
from collections.abc import Iterable


class Globs:
    """A set of patterns. An exact name costs one look-up; the others are tried as one expression."""

    __slots__ = ("_exact", "_patterns", "written")

    def __init__(self, patterns: Iterable[str]) -> None:
        self.written = tuple(patterns)
        self._exact = frozenset(pattern for pattern in self.written if not _is_pattern(pattern))
        wild = [pattern for pattern in self.written if _is_pattern(pattern)]
        self._patterns = re.compile("|".join(map(_expression, wild)), re.DOTALL) if wild else None

    def __contains__(self, name: str) -> bool:
        return name in self._exact or (self._patterns is not None and self._patterns.fullmatch(name) is not None)

    def __bool__(self) -> bool:
        return bool(self.written)


def _is_pattern(text: str) -> bool:
    return "*" in text or "?" in text


def _expression(pattern: str) -> str:
    collapsed = re.sub(r"\*+", "*", pattern)  # so that "a**b" does not try every split twice
    return "".join({"*": ".*", "?": "."}.get(character) or re.escape(character) for character in collapsed)
