"""The tests below a path: PolicyTest files, those of Kyverno, and folders of fixtures."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from app.policy.errors import Problem
from app.suite import kyverno_load
from app.suite.case import AnyCase, Case, Failure, Place, Question, Reference, Suite
from app.suite.fixtures import EXPECTED, FOLDERS, Shorthand
from app.suite.kyverno_case import KyvernoSuite
from app.suite.load import load, may_hold_tests

SUFFIXES: Final = (".yaml", ".yml", ".json")
_POLICIES: Final = tuple(f"policy{suffix}" for suffix in SUFFIXES)
# Version control keeps copies of what is tested.
_SKIPPED: Final = (".git", ".hg", ".svn")


C = TypeVar("C", bound=AnyCase)


class _Inside(NamedTuple):
    """What the folders above say: which policy, whose folder that is, and what is expected."""

    policy: str | None
    base: str
    expected: str | None


class Discovery:
    """What is at the paths. ``suites`` and ``problems`` are in order; ``unused`` counts fixtures without a policy."""

    def __init__(self, paths: Iterable[str], policy: str | None = None) -> None:
        self.suites: list[Suite | KyvernoSuite] = []
        self.problems: list[Failure] = []
        self.unused: list[str] = []
        self._fixtures: dict[tuple[str, str], list[Case]] = defaultdict(list)
        self._seen: set[tuple[int, int]] = set()
        for path in paths:
            if os.path.isdir(path):  # noqa: PTH112
                self._folder(path, self._outside(path, policy))
            else:
                self._file(path, wanted=True)
        self.suites += [Suite(base, base, (policy,), tuple(cases)) for (base, policy), cases in self._fixtures.items()]

    def _outside(self, path: str, policy: str | None) -> _Inside:
        """What a folder that is named itself is inside of, as ``gpugate test fixtures/fail`` is."""
        name = os.path.basename(os.path.abspath(path))  # noqa: PTH100, PTH119
        if name not in FOLDERS:
            return _Inside(policy, path, None)
        above = os.path.normpath(os.path.join(path, os.pardir))  # noqa: PTH118
        return self._with_policy(above, _names(above), _Inside(policy, above, None))._replace(expected=name)

    def _folder(self, path: str, inside: _Inside) -> None:
        """Links are followed, into each folder once: a link may lead back."""
        try:
            status = os.stat(path)  # noqa: PTH116
            names = _names(path)
        except OSError as error:
            self._problem(path, f"cannot be read: {error.strerror}")
            return
        if (status.st_dev, status.st_ino) in self._seen:
            return
        self._seen.add((status.st_dev, status.st_ino))
        inside = self._with_policy(path, names, inside)
        for name in names:
            inner = _join(path, name)
            if os.path.isdir(inner):  # noqa: PTH112
                if name not in _SKIPPED:
                    expected = name if name in FOLDERS else inside.expected
                    self._folder(inner, inside._replace(expected=expected))
            elif not name.endswith(SUFFIXES):
                continue
            elif _waits(inner):
                self._problem(inner, "is not a regular file")
            elif not self._file(inner, wanted=False):
                self._fixture(path, name, names, inside)

    def _with_policy(self, path: str, names: list[str], inside: _Inside) -> _Inside:
        for name in names:
            file = _join(path, name)
            if name in _POLICIES and not _waits(file) and b"GpuPolicy" in (self._content(file) or b""):
                return _Inside(file, path, inside.expected)
        return inside

    def _file(self, path: str, *, wanted: bool) -> bool:
        """Take the tests of a file; False if it holds none and nothing that looks like one."""
        content = self._content(path)
        if content is None:
            return True
        found = list(self._tests(path, content, wanted=wanted))
        self.suites += [each for each in found if isinstance(each, Suite | KyvernoSuite)]
        for each in found:
            if isinstance(each, Problem):
                self.problems.append(Failure(Place(each.file, each.line, each.column), each.message))
        return bool(found)

    def _tests(self, path: str, content: bytes, *, wanted: bool) -> Iterator[Suite | KyvernoSuite | Problem]:
        found = list(kyverno_load.load(path, content)) if kyverno_load.may_hold(path, content) else []
        yield from found
        if (wanted and not found) or may_hold_tests(content):
            yield from load(path, content, wanted=wanted and not found)

    def _fixture(self, folder: str, name: str, names: list[str], inside: _Inside) -> None:
        stem, suffix = os.path.splitext(name)  # noqa: PTH122
        path = _join(folder, name)
        if stem.endswith(EXPECTED):
            source = stem.removesuffix(EXPECTED) + suffix
            if source not in names:
                self._problem(path, f"there is no {source} beside it, whose result it would be")
            return
        golden = stem + EXPECTED + suffix
        if (inside.expected is None and golden not in names) or name in _POLICIES:
            return
        if inside.policy is None:
            self.unused.append(path)
            return
        place = Place(path)
        expectation = Shorthand(place, inside.expected, _join(folder, golden) if golden in names else None)
        title = os.path.relpath(path, inside.base)
        case = Case(title, place, Question(Reference(place, file=path)), expectation)
        self._fixtures[inside.base, inside.policy].append(case)

    def _content(self, path: str) -> bytes | None:
        try:
            return Path(path).read_bytes()
        except OSError as error:
            self._problem(path, f"cannot be read: {error.strerror}")
            return None

    def _problem(self, path: str, message: str) -> None:
        self.problems.append(Failure(Place(path), message))


def _waits(path: str) -> bool:
    """True for what is there and no file: to open a pipe would wait for somebody to write to it."""
    return os.path.exists(path) and not os.path.isfile(path)  # noqa: PTH110, PTH113


def _names(path: str) -> list[str]:
    return sorted(os.listdir(path))  # noqa: PTH208 - names, to be joined as they are shown


def _join(folder: str, name: str) -> str:
    return os.path.normpath(os.path.join(folder, name))  # noqa: PTH118


def matching(suites: Iterable[Suite | KyvernoSuite], patterns: tuple[str, ...]) -> Iterator[Suite | KyvernoSuite]:
    """The suites with the cases that a pattern matches: a part of ``SUITE/CASE``, or a glob of all of it."""
    for suite in suites:
        if isinstance(suite, Suite):
            kept: Suite | KyvernoSuite = replace(suite, cases=_matching(suite.name, suite.cases, patterns))
        else:
            kept = replace(suite, cases=_matching(suite.name, suite.cases, patterns))
        # What is wrong with a test is said, unless other cases were asked for.
        if kept.cases or (isinstance(kept, KyvernoSuite) and kept.flaws and not patterns):
            yield kept


def _matching(suite: str, cases: tuple[C, ...], patterns: tuple[str, ...]) -> tuple[C, ...]:
    titles = [(case, f"{suite}/{case.name}") for case in cases]
    return tuple(
        case
        for case, title in titles
        if not patterns or any(pattern in title or fnmatchcase(title, pattern) for pattern in patterns)
    )
