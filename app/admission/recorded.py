"""What was recorded of the webhook's calls, and which calls were about the same pod."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from app.admission.review import Request
from app.admission.webhook import Phase
from app.model.finding import Outcome
from app.model.patch import Operation
from app.policy.compiled import Mode

UNREADABLE: Final = "unreadable"
"""Stands for a rule where a pod could not be read at all."""

# Both calls for a pod are within its request, which the API server gives 34 s at most for what is not long-running.
_WINDOW: Final = timedelta(seconds=40)
# How many mutating calls may wait for their validating one: memory has to have an end.
_WAITING: Final = 1000


class Said(NamedTuple):
    """A finding as it is compared; ``rule`` is ``policy/rule``, ``operations`` what was applied of a change."""

    rule: str
    outcome: Outcome
    message: str = ""
    operations: tuple[Operation, ...] = ()


class Answered(NamedTuple):
    """What a pod was answered, or would be. ``patch`` is None where it was changed and nobody knows how."""

    refused: bool
    said: tuple[Said, ...]
    patch: Sequence[Operation] | None = ()


ADMITTED: Final = Answered(False, ())
"""Let through as it was, without a word."""


class Record(NamedTuple):
    """One recorded call; ``place`` is where it stands.

    Without a ``phase`` both calls are meant: what was sent to the API server. ``answered``, ``mode`` and ``when``
    are None where the recording does not tell.
    """

    place: str
    request: Request
    phase: Phase | None = None
    mode: Mode | None = None
    when: datetime | None = None
    answered: Answered | None = None


class Pod(NamedTuple):
    """A pod that was to be created or updated.

    ``sent`` is the request before gpugate's changes, ``final`` that after everybody's, if it got there. ``whole``
    tells that the one request stands for both calls.
    """

    place: str
    sent: Request
    final: Request | None
    whole: bool
    mode: Mode | None
    when: datetime | None
    answered: Answered | None

    @property
    def patch(self) -> Sequence[Operation] | None:
        """What gpugate changed between ``sent`` and ``final``."""
        return self.answered.patch if self.answered else ()


def pods(records: Iterable[Record]) -> Iterator[Pod]:
    """The pods that the records, in the order of time, are about.

    A review has an identity of its own, so the two calls for one pod are told by what they say: same namespace, user
    and name (or prefix of the name), one after the other. Pods that cannot be told apart differ in nothing that
    matters here.
    """
    waiting: dict[tuple[Any, ...], deque[Record]] = {}
    order: deque[tuple[tuple[Any, ...], Record]] = deque()
    for record in records:
        while order and (len(order) > _WAITING or _over(order[0][1], record)):
            key, old = order.popleft()
            if _take(waiting, key, old):
                yield _alone(old)
        request, phase = record.request, record.phase
        if phase is None or request.operation != "CREATE" or (record.answered and phase == "mutate" and _ended(record)):
            yield _alone(record)
            continue
        key = _key(record)
        if phase == "mutate":
            waiting.setdefault(key, deque()).append(record)
            order.append((key, record))
        else:
            partners = waiting.get(key)
            if partners:
                first = partners.popleft()
                if not partners:
                    del waiting[key]
                yield _together(first, record)
            else:
                yield _alone(record)
    for key, old in order:
        if _take(waiting, key, old):
            yield _alone(old)


def _over(first: Record, now: Record) -> bool:
    return first.when is not None and now.when is not None and now.when - first.when > _WINDOW


def _ended(record: Record) -> bool:
    return record.answered is not None and record.answered.refused


def _take(waiting: dict[tuple[Any, ...], deque[Record]], key: tuple[Any, ...], record: Record) -> bool:
    """True if the record still waits; it does no more."""
    queue = waiting.get(key)
    if not queue or queue[0] is not record:
        return False  # its partner came: those of one key are taken in their order
    queue.popleft()
    if not queue:
        del waiting[key]
    return True


def _key(record: Record) -> tuple[Any, ...]:
    request = record.request
    metadata = (request.object or {}).get("metadata")
    metadata = metadata if type(metadata) is dict else {}
    # The name is made between the two calls.
    prefix, name = metadata.get("generateName"), metadata.get("name")
    return record.mode, request.namespace, request.user, str(prefix or name or request.name)


def _alone(record: Record) -> Pod:
    request = record.request
    whole = record.phase is None or request.operation != "CREATE"
    final = request if record.phase == "validate" else None
    return Pod(record.place, request, final, whole, record.mode, record.when, record.answered)


def _together(first: Record, last: Record) -> Pod:
    answered = None
    if first.answered and last.answered:
        said = first.answered.said + last.answered.said
        answered = Answered(last.answered.refused, said, first.answered.patch)
    return Pod(last.place, first.request, last.request, False, first.mode, first.when, answered)
