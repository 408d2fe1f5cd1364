"""The policy in force: loaded whole, swapped at once, kept when a new one is bad."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from app.policy.compiled import Policy
from app.policy.errors import PolicyError
from app.policy.load import load
from app.server.log import JsonLog
from app.server.metrics import Metrics
from app.sources.policies import policy_files


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
        self._scopes = scopes
        self.current = self._load()

    async def reload(self, metrics: Metrics, log: JsonLog) -> bool:
        """Load the policy again, in a thread. A bad one is counted and logged, and the last good one stays: False."""
        try:
            loaded = await asyncio.to_thread(self._load)
        except PolicyError as error:
            metrics.policy_failures.inc()
            problems = [str(problem) for problem in error.problems]
            log.event("policy_refused", "error", in_force=self.current.policy.digest, problems=problems)
            return False
        except Exception as error:  # noqa: BLE001 - whatever is wrong with a new policy, the old one serves on
            metrics.policy_failures.inc()
            log.event("policy_refused", "error", in_force=self.current.policy.digest, problems=[repr(error)])
            return False
        self.current = loaded
        metrics.policy_loaded.set(loaded.loaded_at.timestamp())
        log.event("policy_loaded", digest=loaded.policy.digest, path=self.path)
        return True

    def _load(self) -> LoadedPolicy:
        files = policy_files(self.path)
        policy = load(files)
        scopes = self._scopes(policy) if self._scopes else None
        return LoadedPolicy(policy, tuple(files), datetime.now(UTC), scopes)
