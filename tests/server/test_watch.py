"""What counts as a change of files, and when."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from app.server.watch import Watch
from tests.support.mounted import Mounted


def _rewrite(file: Path) -> None:
    file.write_text("new")


def _rename_over(file: Path) -> None:
    other = file.with_suffix(".new")
    other.write_text("new")
    other.rename(file)


def _copy_with_the_same_size_and_time(file: Path) -> None:
    found = file.stat()
    file.write_text("OLD")
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))


def _turn_the_link(file: Path) -> None:
    other = file.with_suffix(".new")
    other.write_text("old")
    shutil.copystat(file, other)
    file.unlink()
    file.symlink_to(other)


def _change_the_mode(file: Path) -> None:
    file.chmod(0o600)


@pytest.mark.parametrize(
    "change",
    [_rewrite, _rename_over, _copy_with_the_same_size_and_time, _turn_the_link, _change_the_mode, Path.unlink],
)
def test_a_change_counts_once_it_is_quiet(tmp_path: Path, change: Callable[[Path], None]) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    watch = Watch(lambda: [file])
    assert not watch.changed()
    change(file)
    assert not watch.changed()  # it may go on
    assert watch.changed()
    assert watch.changed()  # until somebody takes it
    watch.take(watch.stamp())
    assert not watch.changed()


def test_files_that_keep_changing_are_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "file"
    watch = Watch(lambda: [file])
    for text in ("a", "ab", "abc"):
        file.write_text(text)
        assert not watch.changed()
    assert watch.changed()


def test_what_goes_back_to_what_it_was_has_not_changed(tmp_path: Path) -> None:
    file = tmp_path / "file"
    watch = Watch(lambda: [file])
    file.touch()
    assert not watch.changed()
    file.unlink()
    assert not watch.changed()
    assert not watch.changed()


def test_a_change_between_the_look_and_the_taking_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("one")
    watch = Watch(lambda: [file])
    stamp = watch.stamp()
    file.write_text("three")
    watch.take(stamp)
    watch.changed()
    assert watch.changed()


def test_a_file_more_in_a_folder(tmp_path: Path) -> None:
    watch = Watch(lambda: sorted(tmp_path.iterdir()))
    (tmp_path / "a").touch()
    watch.changed()
    assert watch.changed()


def test_a_mounted_folder(tmp_path: Path) -> None:
    mounted = Mounted(tmp_path / "m", {"a": "1", "b": "2"})
    watch = Watch(lambda: [mounted.folder / "a"])
    mounted.write({"a": "1"})
    assert [entry.name for entry in mounted.folder.iterdir() if entry.name[0] != "."] == ["a"]
    watch.changed()
    assert watch.changed()
