"""The policy in its two ConfigMaps: the one that people write, and the one that servers mount."""

from pathlib import Path
from typing import NamedTuple

from app.cluster.keeper.stored import Store, Stored
from app.manifests.keeper_names import POLICY, POLICY_SOURCE
from app.manifests.objects import POLICY_ANNOTATION
from app.policy.compiled import Policy
from app.policy.errors import PolicyError, Problem
from app.policy.load import load
from app.sources.policies import SUFFIXES


class Held(NamedTuple):
    """What a ConfigMap holds: its policy files, and the policy that they make, or what is wrong with them."""

    stored: Stored
    files: dict[str, bytes]
    policy: Policy | None
    problems: tuple[Problem, ...]


class Policies:
    """Reads both ConfigMaps and writes the servers'. A policy is compiled once, until its files change."""

    def __init__(self, maps: Store) -> None:
        self._maps = maps
        self._made: dict[str, tuple[dict[str, bytes], Policy | None, tuple[Problem, ...]]] = {}

    def source(self) -> Held | None:
        """The policy that people wrote; None if there is no such ConfigMap. Raises ClusterError."""
        return self._read(POLICY_SOURCE)

    def served(self) -> Held | None:
        """The policy that servers mount; None if there is no such ConfigMap. Raises ClusterError."""
        return self._read(POLICY)

    def hand_on(self, source: Held, served: Held | None) -> None:
        """Let the servers have the policy; raises ClusterError, Conflict if somebody else changed theirs."""
        assert source.policy is not None
        before = served.stored if served else None
        annotations = {**(before.annotations if before else {}), POLICY_ANNOTATION: source.policy.digest}
        self._maps.write(POLICY, source.files, before, annotations=annotations)

    def _read(self, name: str) -> Held | None:
        stored = self._maps.read(name)
        if stored is None:
            return None
        # As a server takes them from the folder that they are mounted at.
        files = {key: stored.data[key] for key in sorted(stored.data) if Path(key).suffix in SUFFIXES and key[0] != "."}
        made = self._made.get(name)
        if made is None or made[0] != files:
            self._made[name] = made = (files, *_load(name, files))
        return Held(stored, files, made[1], made[2])


def _load(name: str, files: dict[str, bytes]) -> tuple[Policy | None, tuple[Problem, ...]]:
    if not files:
        return None, (Problem(name, 1, 1, f"the ConfigMap holds no {', '.join(SUFFIXES)} file"),)
    try:
        return load(files.items()), ()
    except PolicyError as error:
        return None, tuple(error.problems)
