"""The policy in force: loaded whole, swapped at once."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from app.policy.compiled import Policy
from app.policy.load import load
from app.server.watch import Watch
from app.sources.policies import policy_files, policy_paths


class LoadedPolicy(NamedTuple):
    """A policy, the files that it was made of (name, content), and when.

    ``scopes`` are the digests of configurations that send everything to it that it judges; None: not known.
    """

    policy: Policy
    files: tuple[tuple[str, bytes], ...]
    loaded_at: datetime
    scopes: frozenset[str] | None


class PolicyStore:
    """Holds the policy in force as ``current``, which is replaced in one assignment: a review sees one policy.

    ``scopes`` gives the digests of what a policy reaches, one of which the paths of its configurations carry.
    """

    def __init__(self, path: str, scopes: Callable[[Policy], frozenset[str]] | None = None) -> None:
        """Load the policy of a file, a folder, or the shipped one; raises PolicyError."""
        self.path = path
        self.watch = Watch(self._paths)
        self._scopes = scopes
        self.current = self.load()

    def load(self) -> LoadedPolicy:
        """What the files hold now; raises PolicyError. The policy in force stays."""
        files = policy_files(self.path)
        policy = load(files)
        scopes = self._scopes(policy) if self._scopes else None
        return LoadedPolicy(policy, tuple(files), datetime.now(UTC), scopes)

    def _paths(self) -> Iterable[Path]:
        try:
            return policy_paths(self.path)
        except OSError:
            return [Path(self.path)]
