"""The snapshot that is shown, and the making of the next one."""

import asyncio
from collections.abc import Callable
from time import monotonic

from app.report.board.overview import Overview, overview
from app.report.snapshot import Snapshot

Make = Callable[[], Snapshot]
"""Makes a snapshot, in a thread of its own; raises SnapshotFailed."""


class SnapshotFailed(Exception):
    """No snapshot could be made; the text says why, in one line."""


class Snapshots:
    """The newest snapshot. One is made at a time; while it is, and when that fails, the one before is shown.

    With a ``max_age`` in seconds, looking at one that is older begins the next: nobody looks, nothing is asked of the
    cluster. ``revision`` counts the snapshots; ``problem`` is why the last one could not be made.
    """

    def __init__(self, first: Snapshot, make: Make, max_age: float | None) -> None:
        self.board: Overview = overview(first)
        self.revision = 1
        self.problem: str | None = None
        self._make = make
        self._max_age = max_age
        self._began = monotonic()
        self._task: asyncio.Task[None] | None = None

    @property
    def scanning(self) -> bool:
        """True while the next one is made."""
        return self._task is not None and not self._task.done()

    def look(self) -> None:
        """Somebody looks: begin the next one if it is time."""
        if self._max_age is not None and monotonic() - self._began > self._max_age:
            self._start()

    async def refresh(self, patience: float) -> None:
        """Make the next one, and wait for it, but no longer than ``patience`` seconds. One that is under way counts."""
        await asyncio.wait([self._start()], timeout=patience)

    async def renew(self, patience: float) -> None:
        """As refresh, after something was changed: one that is under way may not have seen it."""
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task], timeout=patience)
        await self.refresh(patience)

    def _start(self) -> asyncio.Task[None]:
        if self._task is None or self._task.done():
            self._began = monotonic()
            self._task = asyncio.create_task(self._next())
        return self._task

    async def _next(self) -> None:
        try:
            self.board = await asyncio.to_thread(lambda: overview(self._make()))
        except SnapshotFailed as error:
            self.problem = str(error).rstrip(".")
        except Exception as error:  # noqa: BLE001 - the board goes on with what it has, and says so
            self.problem = f"an error of gpugate itself, {type(error).__name__}: {error}"
        else:
            self.problem = None
            self.revision += 1
