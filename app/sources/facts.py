"""Cluster facts: what somebody who could look saw in the cluster.

The file is JSON: ``{"version": 1, "collectedAt": "2026-12-02T10:00:00Z", "runtimeClasses": [{"name": "nvidia",
"handler": "nvidia", "overhead": {...}, "scheduling": {"nodeSelector": {...}, "tolerations": [...]}}],
"deviceClasses": [{"name": "gpu.nvidia.com", "extendedResourceName": "nvidia.com/gpu"}], "claimTemplates":
[{"namespace": "a", "name": "one-gpu", "deviceClasses": ["gpu.nvidia.com"]}], "namespaces": {"a": {"gpuWorkloads": 3,
"refused": 1, "examples": [{"kind": "Deployment", "name": "web", "pods": 2, "rules": ["gpu-pods/no-privileged"]}]}}}``.
A key that is left out is unknown. In a namespace that is not listed, nothing runs that gpugate has a say in. Facts
older than STALE_AFTER say nothing of a live cluster.
"""

from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import orjson

from app.model.context import ClusterFacts, NamespaceFact, RefusedWorkload, RuntimeClassFact

STALE_AFTER: Final = timedelta(minutes=15)


class InvalidFacts(ValueError):
    """The file holds no cluster facts; the text says why."""


class Facts(NamedTuple):
    """The facts, and when they were collected (None: the file does not say, so they don't age)."""

    facts: ClusterFacts
    collected_at: datetime | None

    def stale(self, now: datetime) -> bool:
        """True if the facts are too old to say anything of a live cluster; ``now`` has a time zone."""
        return self.collected_at is not None and now - self.collected_at > STALE_AFTER


def parse_facts(content: bytes) -> Facts:
    """The facts of a file's content; raises InvalidFacts."""
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise InvalidFacts(f"not JSON: {error}") from error
    if not isinstance(value, dict) or value.get("version") != 1:
        raise InvalidFacts('expected a JSON object with "version": 1')
    try:
        return Facts(_facts(value), _time(value.get("collectedAt")))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InvalidFacts(f"unexpected shape: {error!r}") from error


def _facts(value: dict[str, Any]) -> ClusterFacts:
    listed = value.get("runtimeClasses")
    classes = None if listed is None else {fact.name: fact for fact in map(_runtime_class, _list(listed))}
    claims = {
        (_text(claim["namespace"]), _text(claim["name"])): tuple(map(_text, _list(claim["deviceClasses"])))
        for claim in _list(value.get("claimTemplates") or [])
    }
    found = value.get("namespaces")
    namespaces = None if found is None else {name: _namespace(entry) for name, entry in found.items()}
    return ClusterFacts(classes, claims=claims, namespaces=namespaces)


def _runtime_class(entry: dict[str, Any]) -> RuntimeClassFact:
    scheduling = entry.get("scheduling") or {}
    selector = {key: _text(text) for key, text in (scheduling.get("nodeSelector") or {}).items()}
    tolerations = tuple(dict(toleration) for toleration in _list(scheduling.get("tolerations") or []))
    return RuntimeClassFact(_text(entry["name"]), selector, tolerations)


def _namespace(entry: dict[str, Any]) -> NamespaceFact:
    examples = tuple(map(_refused, _list(entry.get("examples") or [])))
    return NamespaceFact(_count(entry["gpuWorkloads"]), _count(entry["refused"]), examples)


def _refused(entry: dict[str, Any]) -> RefusedWorkload:
    rules = tuple(map(_text, _list(entry["rules"])))
    return RefusedWorkload(_text(entry["kind"]), _text(entry["name"]), _count(entry["pods"]), rules)


def _list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise TypeError(f"expected a list, found {value!r:.80}")
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError(f"expected text, found {value!r:.80}")
    return value


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(f"expected a count, found {value!r:.80}")
    return value


def _time(text: Any) -> datetime | None:
    if text is None:
        return None
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)
