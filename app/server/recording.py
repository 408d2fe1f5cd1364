"""Reviews written down for `gpugate replay`: JSON lines in files of bounded size and number.

Each line is an AdmissionReview, redacted, with what was answered beside it::

    {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "time": "...", "phase": "validate",
     "mode": "enforce", "verdict": "refused", "policy": "sha256:...",
     "findings": [{"policy": "gpu-pods", "rule": "no-privileged", "outcome": "deny", "message": "..."}],
     "request": {...}}

Answering comes first. What is to be recorded is set aside, redacted together a little later, and written by a
thread, as a disk may take any time. What cannot be written is counted, and admission goes on. Dry runs are left out:
nothing came of them.
"""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, NamedTuple

import orjson
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from app.admission.review import API_VERSION, Request
from app.admission.webhook import Answer
from app.model.finding import Finding
from app.server.counts import Endpoint
from app.server.limits import MAX_RECORD_LINE, MAX_RECORD_PENDING, MAX_TEXT, RECORD_CLOSE_TIMEOUT, RECORD_DELAY
from app.server.log import JsonLog
from app.server.record_files import RecordFiles
from app.server.redaction import Redaction

_BATCH: Final = 32
_OPTIONS: Final = orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z
_HELP: Final = "Reviews for replay, by result: written, or lost to a full or slow disk or for their size."


class _Taken(NamedTuple):
    """An answered review that is to be recorded."""

    at: datetime
    phase: Endpoint
    digest: str
    body: bytes
    answer: Answer


class _Batch(NamedTuple):
    """Lines for the thread; ``taken`` is the size of the bodies that they were made of."""

    lines: list[bytes]
    taken: int


class Recording(Collector):
    """Takes answered reviews, and records them soon: with a loop after RECORD_DELAY, without one at once.

    Everything but ``_write`` runs in the event loop's thread. The counters have one writer each.
    """

    def __init__(self, folder: Path) -> None:
        """Start the thread. Raises OSError if the folder cannot be written to."""
        self.loop: asyncio.AbstractEventLoop | None = None
        self._files = RecordFiles(folder)
        self._redaction = Redaction()
        self._waiting: list[_Taken] = []
        self._queue: SimpleQueue[_Batch | None] = SimpleQueue()
        self._taken = self._done = 0  # bytes
        self._dropped = 0
        self._failed = 0
        self._problem: str | None = None
        self._said: str | None = None
        self._thread = Thread(target=self._write, name="recording", daemon=True)
        self._thread.start()

    def add(self, phase: Endpoint, digest: str, request: Request, body: bytes | bytearray, answer: Answer) -> None:
        """Take an answered review; ``digest`` is that of the policy in force, ``body`` what ``request`` was read from.

        Only pods: whatever else somebody sends here is none of ours to keep.
        """
        if request.dry_run or request.kind != "Pod" or request.group:
            return
        if self._taken - self._done + len(body) > MAX_RECORD_PENDING:
            self._dropped += 1
            return
        self._taken += len(body)
        waiting = self._waiting
        waiting.append(_Taken(datetime.now(UTC), phase, digest, bytes(body), answer))
        if self.loop is None or len(waiting) >= _BATCH:
            self.settle()
        elif len(waiting) == 1:
            self.loop.call_later(RECORD_DELAY, self.settle)

    def settle(self) -> None:
        """Hand what was taken so far to the thread."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        lines = []
        for taken in waiting:
            line = self._line(taken)
            if line is None or len(line) > MAX_RECORD_LINE:
                self._dropped += 1
            else:
                lines.append(line)
        self._queue.put(_Batch(lines, sum(len(taken.body) for taken in waiting)))

    def report(self, log: JsonLog) -> None:
        """Log that writing fails, or works again, once."""
        problem = self._problem
        if problem == self._said:
            return
        self._said = problem
        if problem is None:
            log.event("recording_resumed", folder=str(self._files.folder))
        else:
            log.event("recording_failed", "error", folder=str(self._files.folder), error=problem[:MAX_TEXT])

    def close(self) -> None:
        """Write what is left, as far as the disk takes it in time."""
        self.settle()
        self._queue.put(None)
        self._thread.join(RECORD_CLOSE_TIMEOUT)

    def collect(self) -> Iterator[Metric]:
        """The counts as a metric family."""
        family = CounterMetricFamily("gpugate_recorded_reviews", _HELP, labels=("result",))
        family.add_metric(("written",), self._files.written)
        family.add_metric(("lost",), self._dropped + self._failed)
        yield family

    def _line(self, taken: _Taken) -> bytes | None:
        answer = taken.answer
        line = {
            "apiVersion": API_VERSION,
            "kind": "AdmissionReview",
            "time": taken.at,
            "phase": taken.phase,
            "mode": answer.mode,
            "verdict": answer.verdict,
            "policy": taken.digest,
            "findings": [_finding(finding, applied=answer.verdict == "changed") for finding in answer.findings],
            "request": self._redaction.request(orjson.loads(taken.body)["request"]),
        }
        if answer.error is not None:
            line["error"] = answer.error[:MAX_TEXT]
        try:
            return orjson.dumps(line, option=_OPTIONS)
        except orjson.JSONEncodeError:
            return None  # nested deeper than it writes, though it read it

    def _write(self) -> None:
        """The thread: write what comes until the end."""
        while (batch := self._queue.get()) is not None:
            before = self._files.written
            try:
                self._files.write(batch.lines)
            except OSError as error:
                self._failed += len(batch.lines) - (self._files.written - before)
                self._problem = error.strerror or str(error)
            else:
                self._problem = None
            self._done += batch.taken
        with suppress(OSError):
            self._files.close()


def _finding(finding: Finding, *, applied: bool) -> dict[str, Any]:
    said = {
        "policy": finding.policy,
        "rule": finding.rule,
        "outcome": finding.outcome,
        "message": finding.message[:MAX_TEXT],
    }
    return {**said, "operations": finding.operations} if applied and finding.operations else said
