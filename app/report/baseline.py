"""Findings that are known: they are shown, and fail nothing.

A finding is known by its fingerprint: file, object, rule, container and field, without lines, indexes and messages.
So it stays known when what stands around it changes; of several with the same, as many are known as there were.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final, NamedTuple

import orjson

from app.report.results import FAILING, FailOn, JudgedObject, Placed

VERSION: Final = 1
_INDEX: Final = re.compile(r"/\d+(?=/|$)")


class InvalidBaseline(ValueError):
    """The file is no baseline; the text says why."""


class Fingerprints:
    """The fingerprints of a run's findings, which are unique in it; ``path`` as in Style."""

    def __init__(self, path: Callable[[str], str]) -> None:
        self._path = path
        self._seen: dict[bytes, int] = {}

    def of(self, judged: JudgedObject, placed: Placed) -> str:
        """The fingerprint of the next finding; every one must be asked for once, in the order of the input."""
        finding = placed.finding
        identity = (
            file_of(judged, self._path),
            judged.api_version.rpartition("/")[0],
            judged.kind,
            judged.namespace,
            judged.name or judged.generate_name or "",
            finding.policy,
            finding.rule,
            finding.container_kind or "",
            finding.container or "",
            _INDEX.sub("/*", finding.pointer),
        )
        return self._unique(*identity)

    def of_error(self, file: str, message: str) -> str:
        """The fingerprint of something that could not be judged."""
        return self._unique(file, message)

    def _unique(self, *identity: str) -> str:
        digest = sha256("\0".join(identity).encode("utf-8", "replace"))
        key = digest.digest()
        seen = self._seen[key] = self._seen.get(key, 0) + 1
        if seen > 1:
            digest.update(str(seen).encode())
        return digest.hexdigest()[:32]


def file_of(judged: JudgedObject, path: Callable[[str], str]) -> str:
    """The file of the repository that an object comes from, as far as it is known."""
    source = judged.source
    file = (judged.template_file or source.file) if source.rendered else source.name
    return path(file) if file else source.name


class Entry(NamedTuple):
    """A known finding. Only the fingerprint counts; the rest is for who reads the file."""

    fingerprint: str
    file: str
    object: str
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {self.object}: {self.rule}: {self.message}"


class Baseline:
    """What is known, and what of it was found again."""

    def __init__(self, entries: Iterable[Entry], path: Callable[[str], str]) -> None:
        self._entries = {entry.fingerprint: entry for entry in entries}
        self._path = path
        self._fingerprints = Fingerprints(path)
        self._found: set[str] = set()
        self._files: set[str] = set()

    def mark(self, judged: JudgedObject) -> JudgedObject:
        """The object with what is known of its findings marked."""
        self._files.add(file_of(judged, self._path))
        if not judged.pods:
            return judged
        pods = []
        for pod in judged.pods:
            findings = []
            for placed in pod.findings:
                fingerprint = self._fingerprints.of(judged, placed)
                known = fingerprint in self._entries and placed.finding.outcome != "note"
                if known:
                    self._found.add(fingerprint)
                findings.append(placed._replace(known=known))
            pods.append(replace(pod, findings=tuple(findings)))
        return replace(judged, pods=tuple(pods))

    def stale(self, exists: Callable[[str], bool]) -> list[Entry]:
        """The entries that were not found although their file was judged, or is no more."""
        return [
            entry
            for fingerprint, entry in self._entries.items()
            if fingerprint not in self._found and (entry.file in self._files or not exists(entry.file))
        ]


class NewBaseline:
    """A baseline in the making, of all findings that can fail the run."""

    def __init__(self, fail_on: FailOn, path: Callable[[str], str]) -> None:
        self._outcomes = FAILING[fail_on]
        self._path = path
        self._fingerprints = Fingerprints(path)
        self._entries: list[Entry] = []

    def add(self, judged: JudgedObject) -> None:
        """Take the next object, in the order of the input."""
        for pod in judged.pods:
            for placed in pod.findings:
                fingerprint = self._fingerprints.of(judged, placed)
                finding = placed.finding
                if finding.outcome in self._outcomes:
                    rule = f"{finding.policy}/{finding.rule}"
                    file = file_of(judged, self._path)
                    self._entries.append(Entry(fingerprint, file, judged.title, rule, finding.message))

    def __len__(self) -> int:
        return len(self._entries)

    def dump(self) -> str:
        """The file: one entry a line, sorted, so that it can be read and merged."""
        lines = [orjson.dumps(entry._asdict()).decode() for entry in sorted(self._entries, key=_order)]
        separator = ",\n"
        return f'{{"version":{VERSION},"findings":[\n{separator.join(lines)}\n]}}\n'


def _order(entry: Entry) -> tuple[str, ...]:
    return entry.file, entry.object, entry.rule, entry.fingerprint


def parse_baseline(content: bytes) -> list[Entry]:
    """The entries of a baseline's file; raises InvalidBaseline."""
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise InvalidBaseline(f"not JSON: {error}") from error
    if not isinstance(value, dict) or value.get("version") != VERSION:
        raise InvalidBaseline(f'expected a JSON object with "version": {VERSION}')
    findings = value.get("findings")
    if not isinstance(findings, list):
        raise InvalidBaseline('"findings" is not a list')
    return [_entry(each) for each in findings]


def _entry(value: Any) -> Entry:
    texts = [value.get(key) for key in Entry._fields] if isinstance(value, dict) else [None]
    if not all(type(text) is str for text in texts):
        raise InvalidBaseline(f"not an entry: {orjson.dumps(value).decode()[:200]}")
    return Entry(*texts)
