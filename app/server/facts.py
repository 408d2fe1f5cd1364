"""The cluster facts of a file that somebody else rewrites; what it does not say, or said too long ago, is unknown."""

from datetime import UTC, datetime
from pathlib import Path

from app.model.context import UNKNOWN_CLUSTER, ClusterFacts
from app.server.watch import Watch
from app.sources.facts import Facts, InvalidFacts, parse_facts


class FactsFile:
    """Holds the facts of one file. ``current`` are those to judge by, unknown while there are none or they are stale.

    ``state`` says what they are: ``fresh``, ``stale``, ``absent``, or ``unreadable: <why>``. Facts that cannot be
    read never stop anything: the last good ones stay until they are stale.
    """

    def __init__(self, path: Path, *, patient: bool = False) -> None:
        """Read the file. Raises InvalidFacts if it holds no facts, OSError if its folder is missing too.

        A file that is not there yet is fine: its writer may start after this server. With ``patient`` nothing is
        raised: what cannot be read yet is followed.
        """
        self.path = path
        self.watch = Watch(lambda: (path,))
        self.current: ClusterFacts = UNKNOWN_CLUSTER
        self.facts: Facts | None = None
        self.problem: str | None = None
        if path.exists() or not path.parent.is_dir():
            try:
                self.facts = self.load()
            except (InvalidFacts, OSError) as error:
                if not patient:
                    raise
                self.problem = f"unreadable: {error}"
        self.state = self.settle()

    def load(self) -> Facts:
        """What the file holds now; raises InvalidFacts or OSError."""
        return parse_facts(self.path.read_bytes())

    def settle(self) -> str:
        """Choose the facts to judge by at this time; returns the state."""
        stale = self.facts is not None and self.facts.stale(datetime.now(UTC))
        self.current = UNKNOWN_CLUSTER if self.facts is None or stale else self.facts.facts
        state = "absent" if self.facts is None else "stale" if stale else "fresh"
        self.state = self.problem or state
        return self.state
