"""One injection of a policy: what it adds, by which kind of change."""

from dataclasses import dataclass
from typing import Any, Literal

from app.inject import hide_gpus, node_selector, taints, tolerations
from app.inject.draft import Draft, Injected
from app.model.toleration import Taint


@dataclass(frozen=True, slots=True)
class Injection:
    """What to add to a GPU pod. ``on_conflict`` says what a contradicting nodeSelector of the pod's means."""

    taints: tuple[Taint, ...] = ()
    tolerations: tuple[dict[str, Any], ...] = ()
    node_selector: tuple[tuple[str, str], ...] = ()
    hide_gpus: bool = False
    on_conflict: Literal["refuse", "keep"] = "refuse"

    def selector_only(self) -> "Injection":
        """The part that a pod can contradict."""
        return Injection(node_selector=self.node_selector, on_conflict=self.on_conflict)

    def apply(self, draft: Draft) -> list[Injected]:
        """The changes that are missing from the draft, and are recorded in it."""
        found: list[Injected] = []
        if self.taints:
            found += taints.inject(self.taints, draft)
        if self.tolerations:
            found += tolerations.inject(self.tolerations, draft)
        if self.node_selector:
            found += node_selector.inject(self.node_selector, self.on_conflict, draft)
        if self.hide_gpus:
            found += hide_gpus.inject(draft)
        return found
