"""What the board may change in a cluster: the mode of a namespace, where `--allow-promote` was given."""

from collections.abc import Sequence
from typing import Protocol

from app.policy.compiled import Mode
from app.report.board.pages import Promotion
from app.report.snapshot import NamespaceState


class ChangeRefused(Exception):
    """The mode was not changed; the text says why, in one line. Some refusals can be overridden by force."""

    def __init__(self, text: str, *, can_be_forced: bool = False) -> None:
        super().__init__(text)
        self.can_be_forced = can_be_forced


class Changes(Protocol):
    """The same functions that `gpugate modes promote` and `demote` call."""

    def offers(self, namespace: NamespaceState) -> Sequence[Promotion]:
        """The modes that the namespace can change to from here."""

    def change(self, namespace: str, to: Mode, *, force: bool) -> str:
        """Change the mode, in a thread of its own; what was done, in one line. Raises ChangeRefused."""
