"""When the next snapshot is made, and what is shown meanwhile."""

import asyncio
import threading

from app.report.snapshot import Snapshot
from app.server.board.snapshots import SnapshotFailed, Snapshots
from tests.board.samples import namespace, snapshot

FIRST, SECOND = (snapshot([namespace(name, "warn", (0, 0, 0, 1))]) for name in ("first", "second"))


def shown(snapshots: Snapshots) -> str:
    return snapshots.board.rows[0].name


def state(snapshots: Snapshots) -> tuple[str, str | None, int]:
    return shown(snapshots), snapshots.problem, snapshots.revision


def test_looking_makes_the_next_one_when_it_is_time_and_one_at_a_time() -> None:
    may_end, made = threading.Event(), []

    def make() -> Snapshot:
        may_end.wait(20)
        made.append(1)
        return SECOND

    async def run() -> None:
        snapshots = Snapshots(FIRST, make, max_age=0)
        snapshots.look()
        snapshots.look()
        await snapshots.refresh(patience=0)
        assert (shown(snapshots), snapshots.scanning, snapshots.revision) == ("first", True, 1)
        may_end.set()
        await snapshots.refresh(patience=20)
        assert (shown(snapshots), snapshots.scanning, snapshots.revision) == ("second", False, 2)
        assert len(made) == 1

    asyncio.run(run())


def test_looking_early_or_without_an_interval_makes_none() -> None:
    async def run(max_age: float | None) -> None:
        snapshots = Snapshots(FIRST, lambda: SECOND, max_age)
        snapshots.look()
        assert not snapshots.scanning

    asyncio.run(run(3600))
    asyncio.run(run(None))


def test_after_a_change_one_that_was_under_way_is_not_enough() -> None:
    may_end, made = threading.Event(), []

    def make() -> Snapshot:
        may_end.wait(20)
        made.append(1)
        return SECOND if len(made) > 1 else FIRST

    async def run() -> None:
        snapshots = Snapshots(FIRST, make, None)
        await snapshots.refresh(patience=0)
        renewed = asyncio.create_task(snapshots.renew(patience=20))
        await asyncio.sleep(0)
        may_end.set()
        await renewed
        assert (shown(snapshots), len(made)) == ("second", 2)

    asyncio.run(run())


def test_a_failure_is_kept_until_one_succeeds() -> None:
    results: list[Snapshot | Exception] = [SnapshotFailed("no route."), KeyError("x"), SECOND]

    def make() -> Snapshot:
        result = results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    async def run() -> None:
        snapshots = Snapshots(FIRST, make, None)
        await snapshots.refresh(patience=20)
        assert state(snapshots) == ("first", "no route", 1)
        await snapshots.refresh(patience=20)
        assert state(snapshots) == ("first", "an error of gpugate itself, KeyError: 'x'", 1)
        await snapshots.refresh(patience=20)
        assert state(snapshots) == ("second", None, 2)

    asyncio.run(run())
