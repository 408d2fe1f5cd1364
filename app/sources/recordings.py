"""What `gpugate replay` reads: reviews that the server recorded, AdmissionReview files, audit logs of an API server.

Files are read line by line, gzip or not, so their size does not matter. The lines of several paths are merged by time,
as each server of several writes a recording of its own.
"""

import gzip
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from heapq import merge
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, Final, cast, get_args

import orjson

from app.admission.recorded import UNREADABLE, Answered, Record, Said
from app.admission.review import NotAReview, read_request
from app.admission.webhook import Phase
from app.model.finding import Outcome
from app.policy.compiled import Mode
from app.sources.audit_log import AuditLog, Unusable, is_addition, is_event, time_of

_SUFFIXES: Final = (".json", ".jsonl", ".log", ".json.gz", ".jsonl.gz", ".log.gz")
_GZIP: Final = b"\x1f\x8b"
MAX_LINE: Final = 16 * 1024 * 1024
"""An audit event holds two objects of 3 MiB at most, as JSON in JSON."""

_START: Final = datetime.min.replace(tzinfo=UTC)
_PHASES: Final = get_args(Phase)
_MODES: Final = get_args(Mode)
_OUTCOMES: Final = get_args(Outcome)

Problem = Callable[[str], None]


class Recordings:
    """The records of files and folders ("-" is standard input), in the order of time.

    ``problem`` is told of each file or line that cannot be read, as ``file:line: why``; ``left_out`` counts what is
    not judged, by reason; ``lines`` and ``files`` what was read.
    """

    def __init__(self, paths: Iterable[str], problem: Problem) -> None:
        self.files = 0
        self.lines = 0
        self.left_out: Counter[str] = Counter()
        self._paths = list(paths)
        self._problem = problem

    def __iter__(self) -> Iterator[Record]:
        return merge(*(self._path(path) for path in self._paths), key=lambda record: record.when or _START)

    def _path(self, path: str) -> Iterator[Record]:
        # Modes are remembered from one file of a log to the next.
        audit_log = AuditLog()
        for name in self._names(path):
            self.files += 1
            try:
                with _opened(name) as file:
                    for place, line in self._lines("<stdin>" if name == "-" else name, file):
                        yield from self._records(place, line, audit_log)
            except OSError as error:
                self._problem(f"{name}: cannot be read: {error.strerror or error}")
            except (EOFError, zlib.error) as error:
                self._problem(f"{name}: the gzip data is damaged: {error}")

    def _names(self, path: str) -> list[str]:
        place = Path(path)
        if path == "-" or not place.is_dir():
            return [path]
        try:
            found = [
                each
                for each in place.iterdir()
                if each.name.endswith(_SUFFIXES)
                and each.name[0] != "."
                and (each.is_file() or not each.exists())  # a link that leads nowhere is an error
            ]
        except OSError as error:
            self._problem(f"{path}: cannot be read: {error.strerror}")
            return []
        if not found:
            self._problem(f"{path}: there is no file that ends in {', '.join(_SUFFIXES[:3])}, or in .gz after that")
        return [str(each) for each in sorted(found)]

    def _lines(self, name: str, file: BinaryIO) -> Iterator[tuple[str, bytes]]:
        """The lines with their places; a file that is one JSON value over many lines counts as one."""
        number = 0
        while line := file.readline(MAX_LINE):
            number += 1
            place = f"{name}:{number}"
            if len(line) == MAX_LINE and not line.endswith(b"\n"):
                self.lines += 1
                self._problem(f"{place}: the line is longer than {MAX_LINE // 1024 // 1024} MiB")
                while line and not line.endswith(b"\n"):
                    line = file.readline(MAX_LINE)
                continue
            if number == 1 and line.strip() in (b"{", b"["):
                line += file.read(MAX_LINE)
            if b"\0" in line:
                self.lines += 1
                self._problem(f"{place}: not text: found a NUL byte, as in a binary file; the rest of it is left out")
                return
            if line.strip():
                self.lines += 1
                yield place, line

    def _records(self, place: str, line: bytes, audit_log: AuditLog) -> Iterator[Record]:
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            self._problem(f"{place}: not JSON: {error}")
            return
        for each in _listed(value):
            try:
                record = audit_log.record(place, each) if is_event(each) else _review(place, each)
            except Unusable as reason:
                self.left_out[str(reason)] += 1
            except NotAReview as error:
                self._problem(f"{place}: {error}")
            else:
                if record is not None:
                    yield record


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    with nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb") as file:
        if isinstance(file, BufferedReader) and file.peek(2)[:2] == _GZIP:
            with gzip.open(file) as unpacked:
                yield cast("BinaryIO", unpacked)
        else:
            yield file


def _listed(value: Any) -> list[Any]:
    """Audit backends write lists of events too."""
    if type(value) is dict and value.get("kind") in ("EventList", "List") and type(value.get("items")) is list:
        return value["items"]  # type: ignore[no-any-return]
    return value if type(value) is list else [value]


def _review(place: str, value: Any) -> Record:
    request = read_request(value)
    if request.kind != "Pod" or request.group:
        raise Unusable("reviews of other objects than pods")
    if request.operation not in ("CREATE", "UPDATE"):
        raise Unusable("reviews of other operations than CREATE and UPDATE")
    phase, mode = value.get("phase"), value.get("mode")
    recorded = phase in _PHASES
    return Record(
        place,
        request,
        phase if recorded else None,
        mode if mode in _MODES else None,
        time_of(value.get("time")),
        _answered(value) if recorded else None,
    )


def _answered(value: dict[str, Any]) -> Answered:
    """What the server wrote beside the review."""
    verdict, findings = value.get("verdict"), value.get("findings")
    said = tuple(_said(each) for each in findings) if type(findings) is list else ()
    error = value.get("error")
    if type(error) is str:
        said = (*said, Said(UNREADABLE, "deny", error))
    refused = verdict == "refused" or (verdict == "error" and value.get("mode") == "enforce")
    return Answered(refused, said, [operation for each in said for operation in each.operations])


def _said(value: Any) -> Said:
    get = value.get if type(value) is dict else {}.get
    operations = get("operations") or []
    outcome: Outcome | None = next((each for each in _OUTCOMES if each == get("outcome")), None)
    if outcome is None or type(operations) is not list or not all(map(is_addition, operations)):
        raise NotAReview("its findings are not as gpugate serve writes them")
    return Said(f"{get('policy')}/{get('rule')}", outcome, str(get("message") or ""), tuple(operations))
