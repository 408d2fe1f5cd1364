"""Which object stands for another: a Deployment for its ReplicaSets, and for their pods.

Only uids are held, so that a cluster of any size fits.
"""

from collections.abc import Iterable
from typing import Any, Final

_PARTS: Final = frozenset(
    (
        ("trainer.kubeflow.org", "TrainJob"),
        ("serving.kserve.io", "InferenceService"),
        ("serving.kserve.io", "LLMInferenceService"),
    )
)
"""Kinds whose pods are made of another object too (a runtime, a configuration): what they own says more than they."""


class Owners:
    """The objects seen so far. ``kinds`` are those that are listed: an owner of another kind stands for nobody."""

    def __init__(self, kinds: Iterable[tuple[str, str]]) -> None:
        self._kinds = set(kinds) - _PARTS
        self._owner: dict[str, str | None] = {}

    def unread(self, kind: tuple[str, str]) -> None:
        """Take note that the list of a kind could not be read: what its objects own is judged from now on."""
        self._kinds.discard(kind)

    def stands_alone(self, obj: dict[str, Any]) -> bool:
        """True if the object is judged itself, as no listed workload owns it; takes note of it."""
        metadata = obj["metadata"]
        controller = _controller(metadata)
        owned = controller is not None and _kind(controller) in self._kinds
        self._owner[metadata["uid"]] = controller["uid"] if controller is not None and owned else None
        return not owned

    def of_pod(self, pod: dict[str, Any]) -> str | None:
        """The uid of the object that stands for the pod; None if none of those seen does."""
        controller = _controller(pod["metadata"])
        uid = controller["uid"] if controller is not None else None
        if uid not in self._owner:
            return None
        while (above := self._owner.get(uid)) is not None:
            uid = above
        return uid


def _controller(metadata: dict[str, Any]) -> dict[str, Any] | None:
    """The owner reference with ``controller: true``, of which there is at most one."""
    return next((each for each in metadata.get("ownerReferences") or () if each.get("controller")), None)


def _kind(reference: dict[str, Any]) -> tuple[str, str]:
    group, slash, _ = str(reference["apiVersion"]).rpartition("/")
    return (group if slash else "", str(reference["kind"]))
