"""The record of what was decided: one log line for each decision that is not a plain "allowed", and the counts.

Answering comes first. What is to be recorded is set aside and worked off together, a few hundredths of a second
later: done one by one between answers, it costs twice as much.
"""

import asyncio
from datetime import UTC, datetime
from typing import Any, Final

from app.admission.review import Request
from app.admission.webhook import Answer
from app.server.counts import Decision, Endpoint, ReviewCounts
from app.server.limits import MAX_TEXT, RECORD_DELAY
from app.server.log import JsonLog

_BATCH: Final = 256


class Decisions:
    """Takes decisions, and records them soon: with a loop after RECORD_DELAY, without one at once."""

    def __init__(self, counts: ReviewCounts, log: JsonLog) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self._counts = counts
        self._log = log
        self._waiting: list[Decision] = []

    def add(self, phase: Endpoint, request: Request, answer: Answer, seconds: float) -> None:
        """Take an answered review."""
        name = request.name or _name(request.object)
        waiting = self._waiting
        waiting.append(
            Decision(
                phase,
                request.operation,
                request.dry_run,
                request.uid,
                request.user,
                request.namespace,
                name,
                answer.mode,
                answer.verdict,
                tuple([(finding.policy, finding.rule, finding.outcome) for finding in answer.findings]),
                answer.error,
                seconds,
            )
        )
        if self.loop is None or len(waiting) >= _BATCH:
            self.settle()
        elif len(waiting) == 1:
            self.loop.call_later(RECORD_DELAY, self.settle)

    def settle(self) -> None:
        """Record what was taken so far."""
        waiting, self._waiting = self._waiting, []
        now = datetime.now(UTC)
        for decision in waiting:
            self._counts.add(decision)
            if decision.results or decision.verdict != "allowed":
                self._log.write(_line(now, decision))
        self._log.flush()


def _name(obj: dict[str, Any] | None) -> str:
    """The name of the object, or what its name will begin with: pods of controllers have none yet."""
    metadata = obj.get("metadata") if obj else None
    if type(metadata) is not dict:
        return ""
    name = metadata.get("name") or metadata.get("generateName")
    return name if type(name) is str else ""


def _line(now: datetime, decision: Decision) -> dict[str, Any]:
    """Who, what and why, and nothing of what the pod holds."""
    line = {
        "ts": now,
        "event": "decision",
        "uid": decision.uid[:MAX_TEXT],
        "user": decision.user[:MAX_TEXT],
        "namespace": decision.namespace[:MAX_TEXT],
        "object": decision.name[:MAX_TEXT],
        "operation": decision.operation,
        "phase": decision.phase,
        "mode": decision.mode,
        "verdict": decision.verdict,
        "rules": list(dict.fromkeys([rule for _, rule, _ in decision.results])),
        "dry_run": decision.dry_run,
        "ms": round(decision.seconds * 1000, 3),
    }
    if decision.error is not None:
        line["error"] = decision.error[:MAX_TEXT]
    return line
