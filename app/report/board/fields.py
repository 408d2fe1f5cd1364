"""Fields, values and messages, as people write and read them."""

import re
from typing import Any, Final, NamedTuple

import orjson

from app.documents.dump import dump
from app.model.patch import unescape
from app.model.words import quoted
from app.report.snapshot import SnapshotFinding

_PLAIN: Final = re.compile(r"[A-Za-z_][\w-]*")
_NUMBER: Final = re.compile(r"\d+|-")  # "-" is where a JSON Patch appends to a list
_LONGEST_VALUE: Final = 600
_VIOLATIONS: Final = frozenset({"deny", "warn", "audit"})


def field_path(pointer: str) -> str:
    """A JSON Pointer as kubectl writes paths: ``spec.containers[0].resources``, ``metadata.labels["a/b"]``."""
    path = ""
    for part in pointer.split("/")[1:]:
        key = unescape(part)
        if _NUMBER.fullmatch(key):
            path += "[+]" if key == "-" else f"[{key}]"
        elif _PLAIN.fullmatch(key):
            path += f".{key}" if path else key
        else:
            path += f"[{orjson.dumps(key).decode()}]"
    return path


class Advice(NamedTuple):
    """A message in its two halves: what was ``found``, and what to write instead, "" if it does not say."""

    found: str
    wanted: str


def advice(finding: SnapshotFinding) -> Advice:
    """The halves of a finding's message, without the container, which the finding names beside it.

    Messages of rules end in what to write, after a semicolon. Only violations ask for something to be written.
    """
    message = finding.message
    if finding.container is not None:
        named, _, rest = message.partition(": ")
        if rest and named == f"{container_in_words(finding.container_kind)} {quoted(finding.container)}":
            message = rest
    if finding.outcome not in _VIOLATIONS:
        return Advice(message, "")
    found, _, wanted = message.rpartition("; ")
    return Advice(found, wanted) if found else Advice(message, "")


def container_in_words(container_kind: str | None) -> str:
    """The kind of a container as messages have it: ``initContainer`` is an "init container"."""
    return re.sub(r"([A-Z])", lambda match: f" {match[1].lower()}", container_kind or "container")


_SIGNS: Final = {"add": "+", "remove": "-", "replace": "~"}


def change(operation: dict[str, Any]) -> str:
    """An operation of a JSON Patch as lines of YAML: ``+ spec.runtimeClassName: nvidia``."""
    start = f"{_SIGNS.get(operation['op'], operation['op'])} {field_path(operation['path'])}"
    if "value" not in operation:
        return start
    # As the value of a key, which the path then takes the place of: dump breaks lines there as YAML does.
    text = dump({"key": operation["value"]}).removeprefix("key").rstrip("\n").replace("\n", "\n  ")
    return start + (text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]} …")
