"""Reading the API server's audit log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_events(
    log: Path,
    *,
    namespace: str | None = None,
    resource: str | None = None,
    name: str | None = None,
    verb: str | None = None,
) -> list[dict[str, Any]]:
    """The events whose objectRef and verb are as given. Resources as in RBAC: pods, pods/status."""
    wanted = {"namespace": namespace, "resource": resource, "name": name, "verb": verb}
    # Decoding each line would make every poll of a long log slow; most lines lack one of the words.
    words = [word.encode() for value in wanted.values() if value for word in value.split("/")]
    content = log.read_bytes() if log.exists() else b""
    # What follows the last newline is still being written.
    lines = content[: content.rfind(b"\n") + 1].splitlines()
    events = [json.loads(line) for line in lines if all(word in line for word in words)]
    return [event for event in events if _matches(event, wanted)]


def _matches(event: dict[str, Any], wanted: dict[str, str | None]) -> bool:
    reference = event.get("objectRef", {})
    resource = "/".join(reference[key] for key in ("resource", "subresource") if reference.get(key))
    found = {**reference, "resource": resource, "verb": event.get("verb")}
    return all(value is None or found.get(key) == value for key, value in wanted.items())
