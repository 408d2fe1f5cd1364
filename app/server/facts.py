"""The cluster facts of a file that somebody else rewrites; what it does not say, or said too long ago, is unknown."""

from datetime import UTC, datetime
from pathlib import Path

from app.model.context import UNKNOWN_CLUSTER, ClusterFacts
from app.server.log import JsonLog
from app.server.metrics import Metrics
from app.sources.facts import Facts, InvalidFacts, parse_facts


class FactsFile:
    """Follows one file. ``current`` are the facts to judge by, unknown while there are none or they are stale.

    Facts that cannot be read never stop anything: the last good ones stay until they are stale.
    """

    def __init__(self, path: Path) -> None:
        """Read the file. Raises InvalidFacts if it holds no facts, OSError if its folder is missing too.

        A file that is not there yet is fine: its writer may start after this server.
        """
        self.path = path
        self.current: ClusterFacts = UNKNOWN_CLUSTER
        self._facts: Facts | None = None
        self._version: tuple[int, int, int] | None = None
        try:
            self._version, content = self._stat(), path.read_bytes()
        except FileNotFoundError:
            if not path.parent.is_dir():
                raise
        else:
            self._facts = parse_facts(content)
        self._said = self._settle()

    def refresh(self, metrics: Metrics, log: JsonLog) -> None:
        """Read the file again if it changed, and forget facts that are stale. Cheap when nothing happened."""
        try:
            version = self._stat()
            if version != self._version:
                self._facts = parse_facts(self.path.read_bytes())
                log.event("cluster_facts_read", path=str(self.path), collected_at=self._facts.collected_at)
                self._version = version
        except (OSError, InvalidFacts) as error:
            self._settle()
            reason = error.strerror if isinstance(error, OSError) else str(error)
            state = "absent" if isinstance(error, FileNotFoundError) else f"unreadable: {reason}"
            self._say(state, metrics, log)
            return
        self._say(self._settle(), metrics, log)

    def _stat(self) -> tuple[int, int, int]:
        # A mounted ConfigMap is replaced through a link: another inode, perhaps within one tick of the clock.
        found = self.path.stat()
        return found.st_mtime_ns, found.st_ino, found.st_size

    def _settle(self) -> str:
        """Choose the facts to judge by; says in a word what they are."""
        if self._facts is None:
            self.current = UNKNOWN_CLUSTER
            return "absent"
        if self._facts.stale(datetime.now(UTC)):
            self.current = UNKNOWN_CLUSTER
            return "stale"
        self.current = self._facts.facts
        return "fresh"

    @property
    def state(self) -> str:
        """``fresh``, ``stale``, ``absent``, or ``unreadable: <why>``."""
        return self._said

    def _say(self, state: str, metrics: Metrics, log: JsonLog) -> None:
        """Log a change of state, once."""
        if state == self._said:
            return
        self._said = state
        if state.startswith("unreadable"):
            metrics.facts_failures.inc()
        level = "info" if state == "fresh" else "warning"
        log.event("cluster_facts", level, state=state, path=str(self.path))
