"""The record of what was decided: one log line for each decision that is not a plain "allowed", and the counts.

Answering comes first. What is to be recorded is set aside and worked off together, a few hundredths of a second
later: done one by one between answers, it costs twice as much.
"""

import asyncio
import time
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from app.admission.review import Request
from app.admission.webhook import Answer, Phase
from app.server.counts import ReviewCounts
from app.server.limits import MAX_TEXT, RECORD_DELAY
from app.server.log import JsonLog

_BATCH: Final = 256


class Decision(NamedTuple):
    """An answered review, without the objects that were judged. ``at`` is Unix time, ``seconds`` the time it took."""

    at: float
    phase: Phase
    request: Request
    name: str
    answer: Answer
    seconds: float


class Decisions:
    """Takes decisions, and records them soon: with a loop after RECORD_DELAY, without one at once."""

    def __init__(self, counts: ReviewCounts, log: JsonLog) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self._counts = counts
        self._log = log
        self._waiting: list[Decision] = []

    def add(self, phase: Phase, request: Request, answer: Answer, seconds: float) -> None:
        """Take an answered review."""
        name = request.name or _name(request.object)
        known = request._replace(object=None, old_object=None)
        waiting = self._waiting
        waiting.append(Decision(time.time(), phase, known, name, answer, seconds))
        if self.loop is None or len(waiting) >= _BATCH:
            self.settle()
        elif len(waiting) == 1:
            self.loop.call_later(RECORD_DELAY, self.settle)

    def settle(self) -> None:
        """Record what was taken so far."""
        waiting, self._waiting = self._waiting, []
        for decision in waiting:
            self._counts.add(decision.phase, decision.request, decision.answer, decision.seconds)
            if decision.answer.findings or decision.answer.verdict != "allowed":
                self._log.write(_line(decision))
        self._log.flush()


def _name(obj: dict[str, Any] | None) -> str:
    """The name of the object, or what its name will begin with: pods of controllers have none yet."""
    metadata = obj.get("metadata") if obj else None
    if type(metadata) is not dict:
        return ""
    name = metadata.get("name") or metadata.get("generateName")
    return name if type(name) is str else ""


def _line(decision: Decision) -> dict[str, Any]:
    """Who, what and why, and nothing of what the pod holds."""
    request, answer = decision.request, decision.answer
    line = {
        "ts": datetime.fromtimestamp(decision.at, UTC),
        "event": "decision",
        "uid": request.uid[:MAX_TEXT],
        "user": request.user[:MAX_TEXT],
        "namespace": request.namespace[:MAX_TEXT],
        "object": decision.name[:MAX_TEXT],
        "operation": request.operation,
        "phase": decision.phase,
        "mode": answer.mode,
        "verdict": answer.verdict,
        "rules": list(dict.fromkeys([finding.rule for finding in answer.findings])),
        "dry_run": request.dry_run,
        "ms": round(decision.seconds * 1000, 3),
    }
    if answer.error is not None:
        line["error"] = answer.error[:MAX_TEXT]
    return line
