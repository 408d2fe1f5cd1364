"""Patterns: the shape that a resource must have, with anchors in the keys.

Source: kyverno pkg/engine/validate/validate.go, pkg/engine/anchor/handlers.go, pkg/engine/wildcards/wildcards.go.
What a pattern says is compiled once; a check walks pattern and resource together and stops at the first mismatch.
Anchors are asked first, in the order of their bytes, then the other keys: those with anchors below them (and global
anchors) first, in reverse order.
"""

from dataclasses import dataclass
from typing import Any, Final, Protocol

from app.kyverno import anchors
from app.kyverno.scalars import Check, check_for
from app.kyverno.values import has_wildcard, wildcard
from app.model.patch import escape


@dataclass(slots=True)
class Mismatch:
    """Where the resource is not as the pattern has it.

    ``skip``: by an anchor that makes the rule not apply, rather than fail. ``path`` are the keys and indexes to the
    place, the last first. ``found`` is what stands there, ``wanted`` the pattern of it.
    """

    skip: bool
    path: list[str]
    found: Any
    wanted: Any

    @property
    def pointer(self) -> str:
        """The place as a JSON Pointer."""
        return "".join(f"/{escape(token)}" for token in reversed(self.path))


class Absent:
    """Stands for what must not be there at all, in ``Mismatch.wanted``."""


ABSENT: Final = Absent()


class Pattern(Protocol):
    """A compiled pattern."""

    def check(self, value: Any) -> Mismatch | None:
        """None if the value is as it should be."""


class _Scalar:
    __slots__ = ("_check", "written")

    def __init__(self, written: Any) -> None:
        self.written = written
        self._check: Check = check_for(written)

    def check(self, value: Any) -> Mismatch | None:
        # Of a list each item must match; an empty one does.
        holds = all(map(self._check, value)) if type(value) is list else self._check(value)
        return None if holds else Mismatch(False, [], value, self.written)


class _Map:
    __slots__ = ("_anchored", "_expanding", "_plain", "_written")

    def __init__(self, written: dict[str, Any], *, expanding: bool) -> None:
        self._written = written
        self._expanding = expanding
        anchored: list[_Entry] = []
        plain: list[_Entry] = []
        for key in sorted(written, key=lambda key: key.encode()):
            value = written[key]
            anchor = anchors.parse(key)
            modifier = anchor.modifier if anchor else None
            name = anchor.key if anchor else key
            if modifier == anchors.ADDITION:  # means nothing in a pattern: the key is that text
                modifier, name = None, key
            below = _compiled(modifier, name, value)
            entry = _Entry(modifier, name, value, below)
            first = modifier is not None and modifier != anchors.GLOBAL
            (anchored if first else plain).append(entry)
        nested = [entry for entry in plain if entry.modifier == anchors.GLOBAL or _has_anchors(entry.written)]
        rest = [entry for entry in plain if entry not in nested]
        self._anchored = tuple(anchored)
        self._plain = (*reversed(nested), *rest)

    def check(self, value: Any) -> Mismatch | None:
        if type(value) is not dict:
            return Mismatch(False, [], value, self._written)
        for entry in self._anchored:
            mismatch = entry.check(value, self._expanding)
            if mismatch is not None:
                return mismatch
        for entry in self._plain:
            mismatch = entry.check(value, self._expanding)
            if mismatch is not None:
                return mismatch
        return None


class _Entry:
    """One key of a map."""

    __slots__ = ("below", "key", "modifier", "wild", "written")

    def __init__(self, modifier: str | None, key: str, written: Any, below: Pattern) -> None:
        self.modifier = modifier
        self.key = key
        self.written = written
        self.below = below
        self.wild = has_wildcard(key)

    def check(self, parent: dict[str, Any], expanding: bool) -> Mismatch | None:
        key = _expanded(self.key, parent) if expanding and self.wild else self.key
        modifier = self.modifier
        if modifier is None:
            return self._plain(parent, key)
        if key not in parent:
            return Mismatch(True, [key], None, self.written) if modifier == anchors.CONDITION else None
        value = parent[key]
        if modifier == anchors.NEGATION:
            return Mismatch(False, [key], value, ABSENT)
        mismatch = self._exists(value) if modifier == anchors.EXISTENCE else self.below.check(value)
        if mismatch is not None:
            mismatch.path.append(key)
            mismatch.skip = mismatch.skip or modifier in (anchors.CONDITION, anchors.GLOBAL)
        return mismatch

    def _plain(self, parent: dict[str, Any], key: str) -> Mismatch | None:
        value = parent.get(key)
        if self.written == "*":  # anything but nothing
            return None if value is not None else Mismatch(False, [key], None, self.written)
        mismatch = self.below.check(value)
        if mismatch is not None:
            mismatch.path.append(key)
        return mismatch

    def _exists(self, value: Any) -> Mismatch | None:
        """Each pattern of the list must match an element."""
        if type(value) is not list or not isinstance(self.below, _Existence):
            return Mismatch(False, [], value, self.written)
        for written, pattern in self.below.patterns:
            if all(pattern.check(element) is not None for element in value):
                return Mismatch(False, [], value, [written])
        return None


class _Existence:
    """The list under ``^( )``."""

    __slots__ = ("patterns",)

    def __init__(self, written: list[Any]) -> None:
        self.patterns = [(item, compile_pattern(item)) for item in written]

    def check(self, value: Any) -> Mismatch | None:
        raise NotImplementedError  # see _Entry._exists


class _List:
    """A list of maps: only the first is a pattern, for every element. Where all elements skip, so does the list."""

    __slots__ = ("_first",)

    def __init__(self, first: dict[str, Any]) -> None:
        self._first = compile_pattern(first)

    def check(self, value: Any) -> Mismatch | None:
        if type(value) is not list:
            return Mismatch(False, [], value, [])
        skipped: Mismatch | None = None
        applied = False
        for index, element in enumerate(value):
            mismatch = self._first.check(element)
            if mismatch is None:
                applied = True
            elif mismatch.skip:
                skipped = skipped or mismatch
            else:
                mismatch.path.append(str(index))
                return mismatch
        return None if applied else skipped


class _Texts:
    """A list of scalars: only the first counts, for every item."""

    __slots__ = ("_first",)

    def __init__(self, first: Any) -> None:
        self._first = _Scalar(first)

    def check(self, value: Any) -> Mismatch | None:
        return self._first.check(value) if type(value) is list else Mismatch(False, [], value, [self._first.written])


class _Lists:
    """A list of lists: one by one, and at least as many."""

    __slots__ = ("_patterns", "_written")

    def __init__(self, written: list[Any]) -> None:
        self._written = written
        self._patterns = [compile_pattern(item) for item in written]

    def check(self, value: Any) -> Mismatch | None:
        if type(value) is not list or len(value) < len(self._patterns) or not self._patterns:
            return Mismatch(False, [], value, self._written)
        skipped: Mismatch | None = None
        applied = False
        for index, pattern in enumerate(self._patterns):
            mismatch = pattern.check(value[index])
            if mismatch is None:
                applied = True
            elif mismatch.skip:
                skipped = skipped or mismatch
            else:
                mismatch.path.append(str(index))
                return mismatch
        return None if applied else skipped


def compile_pattern(written: Any, *, expanding: bool = False) -> Pattern:
    """The pattern of a document without variables. ``expanding``: wildcards in keys stand for keys of the resource."""
    if type(written) is dict:
        return _Map(written, expanding=expanding)
    if type(written) is not list:
        return _Scalar(written)
    first = written[0] if written else None
    if not written or type(first) is list:
        return _Lists(written)
    return _List(first) if type(first) is dict else _Texts(first)


def _compiled(modifier: str | None, key: str, written: Any) -> Pattern:
    if modifier == anchors.EXISTENCE and type(written) is list:
        return _Existence(written)
    if key == "metadata" and type(written) is dict:
        return _Metadata(written)
    return compile_pattern(written)


class _Metadata(_Map):
    """``metadata``, in whose labels and annotations keys have wildcards."""

    __slots__ = ()

    def __init__(self, written: dict[str, Any]) -> None:
        super().__init__(written, expanding=False)
        for entry in (*self._anchored, *self._plain):
            if entry.key in ("labels", "annotations") and type(entry.written) is dict:
                entry.below = compile_pattern(entry.written, expanding=True)


def _expanded(key: str, parent: dict[str, Any]) -> str:
    """The first key of the resource that the wildcards stand for; themselves if there is none."""
    return next((name for name in sorted(parent) if wildcard(key, name)), key)


def _has_anchors(written: Any) -> bool:
    if type(written) is dict:
        return any(
            ((anchor := anchors.parse(key)) is not None and anchor.modifier != anchors.ADDITION) or _has_anchors(value)
            for key, value in written.items()
        )
    return type(written) is list and any(_has_anchors(item) for item in written)
