"""Where the parts of a pod stand, in an object that holds no plain pod spec.

An Argo template, a Tekton step, a NIMService spread a pod over fields of their own. Such a pod is put together, so that
rules see a pod like any other; its pointers speak of the pod spec that it would be. Here is kept which field of the
object each of them means, and what has no field there at all: that part is added when the pod is created, or not.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from app.model.patch import Operation, add, unescape
from app.model.pod import MalformedPod


class Place(NamedTuple):
    """Where a part of a pod stands.

    ``reason`` tells why nothing can be added there for this pod alone; None if it can. ``missing``: the kind has no
    such field. ``whole``: the part stands in a text, which has no pointers inside, so ``pointer`` is for all of it.
    """

    pointer: str
    reason: str | None = None
    missing: bool = False
    whole: bool = False


class Note(NamedTuple):
    """What the kind itself has to say of the pod."""

    pointer: str
    message: str


class Places:
    """The places of one pod's parts in the object ``root``; what is not listed stands where its pointer says.

    ``rest`` names what else the pod is made of (a ServingRuntime), if this is only a part of it.
    """

    __slots__ = ("_listed", "_root", "notes", "rest")

    def __init__(self, root: Any, rest: str | None = None) -> None:
        self._root = root
        self._listed: dict[str, Place] = {}
        self.notes: list[Note] = []
        self.rest = rest

    def put(self, pointer: str, place: Place) -> None:
        """The part of the pod at this pointer, and all in it that has no place of its own, stands at the place."""
        self._listed[pointer] = place

    def find(self, pointer: str) -> Place:
        """The place of a part of the pod."""
        head = pointer
        while head:
            place = self._listed.get(head)
            if place is not None:
                return place if place.whole else place._replace(pointer=place.pointer + pointer[len(head) :])
            head = head.rpartition("/")[0]
        return Place(pointer)

    def malformed(self, error: MalformedPod) -> MalformedPod:
        """The error at the field of the object that it is about."""
        return MalformedPod(self.find(error.pointer).pointer, error.value, error.wanted)

    def operations(self, operations: Iterable[Operation], made: set[str]) -> list[Operation] | None:
        """The operations on the object; None if one of them has no place there.

        Maps on the way that the object lacks are made first; ``made`` keeps which, over the operations of one patch.
        """
        places = [(operation, self.find(operation["path"])) for operation in operations]
        if any(place.reason is not None for _, place in places):
            return None
        result: list[Operation] = []
        for operation, place in places:
            result += (add(parent, {}) for parent in self._lacking(place.pointer, made))
            result.append({**operation, "path": place.pointer})
        return result

    def _lacking(self, pointer: str, made: set[str]) -> Iterator[str]:
        value, parent = self._root, ""
        for token in pointer.split("/")[1:-1]:
            parent = f"{parent}/{token}"
            if type(value) is list:
                value = value[int(token)]
            else:
                value = value.get(unescape(token)) if type(value) is dict else None
                if value is None and parent not in made:
                    made.add(parent)
                    yield parent
