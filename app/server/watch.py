"""Tells when files have changed: rewritten, renamed over, or behind a link that was turned elsewhere.

By asking for their state about once a second, not by inotify: a mounted Secret or ConfigMap is replaced by turning
the link ``..data`` to another folder, which a watch on its files never sees, and network file systems report nothing.
kubelet brings a change up to a minute late; a second more is nothing.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

Stamp = tuple[tuple[str, tuple[int, ...]], ...]
"""The state of each file: its name; device, inode, size, and times of change (ns), or the error number."""


class Watch:
    """Watches the files that ``files`` lists, which may be others at each look.

    A change counts once the files have stayed as they are from one look to the next: a folder that is being filled,
    or a certificate whose key is not written yet, is left alone.
    """

    def __init__(self, files: Callable[[], Iterable[Path]]) -> None:
        """The files as they are now are taken."""
        self._files = files
        self._taken = self._seen = self.stamp()

    def changed(self) -> bool:
        """True if the files are others than those that were taken, and were so at the last look too."""
        now = self.stamp()
        quiet = now == self._seen
        self._seen = now
        return quiet and now != self._taken

    def stamp(self) -> Stamp:
        """The state of the files now."""
        return tuple([(str(file), _state(file)) for file in self._files()])

    def take(self, stamp: Stamp) -> None:
        """The files were read while they were in this state."""
        self._taken = self._seen = stamp


def _state(file: Path) -> tuple[int, ...]:
    try:
        found = file.stat()
    except OSError as error:
        return (error.errno or 0,)
    # The time of the last change of the inode tells of copies that keep the time of modification.
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
