"""Semantic versions and ranges of them. Source of the ranges: blang/semver v4, ParseRange."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple

# As many digits as every 64-bit number may have; more are no version.
_MAX_DIGITS: Final = 19
_NUMBER: Final = rf"0|[1-9][0-9]{{0,{_MAX_DIGITS - 1}}}"
_VERSION: Final = re.compile(
    rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})"
    r"(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)
_COMPARATOR: Final = re.compile(r"(==|=|>=|<=|>|<|!=|!|)\s*([0-9xX].*)", re.DOTALL)
_WILDCARD: Final = re.compile(rf"({_NUMBER})(?:\.({_NUMBER}))?(?:\.x){{1,2}}", re.ASCII)


class InvalidRange(ValueError):
    """The text is no range of versions."""


class Version(NamedTuple):
    """A version; build metadata plays no part in the order."""

    major: int
    minor: int
    patch: int
    prerelease: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[int, int, int, bool, tuple[tuple[bool, int, str], ...]]:
        """What sorts versions: a release comes after its pre-releases, numbers before words."""
        parts = tuple((not each.isdigit(), int(each) if each.isdigit() else 0, each) for each in self.prerelease)
        return self.major, self.minor, self.patch, not parts, parts


def version(text: str) -> Version | None:
    """The version that the text is; None if it is none (``v1.2.3`` and ``1.2`` are not)."""
    match = _VERSION.fullmatch(text)
    if match is None:
        return None
    major, minor, patch, prerelease = match.groups()
    parts = tuple(prerelease.split(".")) if prerelease else ()
    if any(each.isdigit() and len(each) > 1 and (each[0] == "0" or len(each) > _MAX_DIGITS) for each in parts):
        return None
    return Version(int(major), int(minor), int(patch), parts)


@lru_cache(maxsize=256)
def version_range(text: str) -> Callable[[Version], bool]:
    """Whether a version is in a range such as ``>=1.2.0 <2.0.0 || 3.x``; raises InvalidRange."""
    alternatives = [[_comparator(each) for each in _comparators(part)] for part in text.split("||")]
    if not all(alternatives):
        raise InvalidRange(f'"{text}" is no range of versions')
    return lambda found: any(all(holds(found) for holds in every) for every in alternatives)


def _comparators(text: str) -> list[str]:
    # A space may stand between an operator and its version.
    return re.sub(r"(==|=|>=|<=|>|<|!=|!)\s+", r"\1", text.strip()).split()


def _comparator(text: str) -> Callable[[Version], bool]:
    match = _COMPARATOR.fullmatch(text)
    if match is None:
        raise InvalidRange(f'"{text}" is no range of versions')
    operator, written = match.groups()
    wildcard = _WILDCARD.fullmatch(written)
    if wildcard:
        major, minor = int(wildcard[1]), wildcard[2]
        low = Version(major, int(minor or 0), 0)
        high = Version(major, int(minor) + 1, 0) if minor else Version(major + 1, 0, 0)
        return _between(operator, low.order, high.order)
    wanted = version(written)
    if wanted is None:
        raise InvalidRange(f'"{written}" is no version')
    return _compared(operator, wanted.order)


def _between(operator: str, low: tuple[object, ...], high: tuple[object, ...]) -> Callable[[Version], bool]:
    match operator:
        case ">":
            return _compared(">=", high)
        case ">=":
            return _compared(">=", low)
        case "<":
            return _compared("<", low)
        case "<=":
            return _compared("<", high)
        case "!" | "!=":
            return lambda found: not low <= found.order < high
        case _:
            return lambda found: low <= found.order < high


def _compared(operator: str, wanted: tuple[object, ...]) -> Callable[[Version], bool]:
    match operator:
        case ">":
            return lambda found: found.order > wanted
        case ">=":
            return lambda found: found.order >= wanted
        case "<":
            return lambda found: found.order < wanted
        case "<=":
            return lambda found: found.order <= wanted
        case "!" | "!=":
            return lambda found: found.order != wanted
        case _:
            return lambda found: found.order == wanted
