"""Keeps something that is made of files in step with them: what is bad is refused, and the last good one stays."""

import asyncio
from time import monotonic
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from app.certs import InvalidPair
from app.policy.errors import PolicyError
from app.server.limits import RETRY_REFUSED
from app.server.watch import Watch
from app.sources.facts import InvalidFacts

T = TypeVar("T")


class Followed(Protocol[T]):
    """Something of the server that is made of files."""

    @property
    def watch(self) -> Watch:
        """Of its files."""

    def load(self) -> T:
        """Read and check the files, whole. Runs in a thread: a slow disk must not stop admission. Raises."""

    def adopt(self, loaded: T) -> None:
        """Put it into use, at once."""

    def refuse(self, problems: list[str], *, again: bool) -> None:
        """Say why what was found cannot be used; what is in use stays. ``again``: for the same reasons as before."""


class _Found(NamedTuple, Generic[T]):
    """What was made of the files, or why nothing could be made of them."""

    loaded: T | None
    problems: list[str]


class Follower(Generic[T]):
    """Follows one of them."""

    def __init__(self, followed: Followed[T]) -> None:
        self._followed = followed
        self._problems: list[str] = []
        self._retry_at = 0.0
        self._busy = asyncio.Lock()

    async def look(self, *, asked: bool = False) -> None:
        """Load what has changed; with ``asked``, in any case.

        What was refused is tried again later, too: a certificate may not be valid yet, a disk may come back.
        """
        async with self._busy:
            retry = bool(self._problems) and monotonic() >= self._retry_at
            found = await asyncio.to_thread(self._load, anyway=asked or retry, patient=not asked)
            if found is None:
                return
            if found.loaded is not None:
                self._problems = []
                self._followed.adopt(found.loaded)
                return
            self._retry_at = monotonic() + RETRY_REFUSED
            self._followed.refuse(found.problems, again=found.problems == self._problems and not asked)
            self._problems = found.problems

    def _load(self, *, anyway: bool, patient: bool) -> _Found[T] | None:
        """In a thread. ``patient``: files that change while they are read are left for the next look."""
        watch = self._followed.watch
        if not watch.changed() and not anyway:
            return None
        before = watch.stamp()
        try:
            found: _Found[T] = _Found(self._followed.load(), [])
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the new one, the old one serves on
            found = _Found(None, problems_of(error))
        if patient and watch.stamp() != before:
            return None
        watch.take(before)
        return found


_UNNAMED: Final = "a file"


def problems_of(error: Exception) -> list[str]:
    """What is wrong with files that could not be loaded, in words for people; at least one entry."""
    if isinstance(error, PolicyError):
        return [str(problem) for problem in error.problems] or [str(error)]
    if isinstance(error, OSError):
        return [f"{error.filename or _UNNAMED}: {error.strerror or error}"]
    if isinstance(error, (InvalidPair, InvalidFacts)):
        return [str(error)]
    return [repr(error)]
