"""What applying objects would change in a cluster: the API server is asked to apply them without keeping the result.

What others own stays out of it: their labels and annotations, a CA bundle that somebody filled in, the number of
servers where an autoscaler chooses it, the entries of configurations that the keeper fills.
"""

from collections.abc import Iterable, Iterator, Mapping
from difflib import unified_diff
from typing import Any, Final, NamedTuple

import orjson

from app.cluster.client import APPLY_PATCH, Cluster
from app.cluster.discovery import Paths
from app.cluster.errors import NotFound
from app.manifests.objects import text

_MANAGER: Final = "kubectl"
"""The field manager of `kubectl apply --server-side`: what it once set and is not wanted any more would go."""

_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""Where `kubectl apply` without --server-side keeps what it applied."""

_OF_THE_SERVER: Final = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid")

Object = dict[str, Any]


class Changed(NamedTuple):
    """An object at a path of the API that is not as wanted, without what the API server itself writes into it; ``live``
    is None where there is none yet."""

    path: str
    live: Object | None
    applied: Object


def differences(cluster: Cluster, objects: Iterable[Object]) -> Iterator[str]:
    """A unified diff of each object that would change or be made, the cluster's first. Raises ClusterError."""
    for path, live, applied in changed(cluster, objects):
        before, after = text([live]) if live else "", text([applied])
        names = f"cluster{path}", f"manifests{path}"
        yield "\n".join(unified_diff(before.splitlines(), after.splitlines(), *names, lineterm=""))


def changed(cluster: Cluster, objects: Iterable[Object]) -> Iterator[Changed]:
    """The objects that applying would make or change, in their order.

    A ``caBundle`` is compared where the object to apply has one: else whoever makes the certificates writes it. Raises
    ClusterError, such as NotFound for a kind that the cluster does not have.
    """
    paths = Paths(cluster)
    for each in objects:
        path = paths.of(each)
        live = _read(cluster, path)
        applied = each if live is None else _apply(cluster, path, each, live)
        before, after = live and _shown(live, each), _shown(applied, each)
        if before != after:
            yield Changed(path, before, after)


def _read(cluster: Cluster, path: str) -> Object | None:
    try:
        return cluster.get(path)
    except NotFound:
        return None


def _apply(cluster: Cluster, path: str, wanted: Object, live: Object) -> Object:
    """The object as it would be. What `kubectl apply` once set is owned by another manager than asks here, so the API
    server would leave it: that is taken away here, as `kubectl apply` does, by what it noted down."""
    query = {"dryRun": "All", "fieldManager": _MANAGER, "force": True}
    applied = cluster.patch(path, wanted, content_type=APPLY_PATCH, **query)
    structure: Object = {}
    for entry in applied["metadata"].get("managedFields") or []:
        _unite(structure, entry.get("fieldsV1") or {})
    # There are always annotations: the note itself, which neither side has.
    _prune(applied, structure, _noted(live), {**wanted, "metadata": {"annotations": {}, **wanted["metadata"]}})
    return applied


def _noted(live: Object) -> Any:
    """What `kubectl apply` noted down when it was last used; None if it was not."""
    try:
        return orjson.loads((live["metadata"].get("annotations") or {}).get(_LAST_APPLIED) or "null")
    except orjson.JSONDecodeError:
        return None


def _unite(structure: Object, fields: Mapping[str, Any]) -> None:
    """Add fields in the form of FieldsV1: nested maps with ``f:NAME`` for a field and ``k:{KEYS}`` for an element."""
    for key, below in fields.items():
        _unite(structure.setdefault(key, {}), below)


def _prune(value: Any, structure: Object, noted: Any, wanted: Any) -> None:
    """Take out of ``value`` what was noted down and is not wanted any more, by the structure of its lists."""
    for key, below in structure.items():
        kind, _, name = key.partition(":")
        if kind == "f" and type(noted) is dict and name in noted and name in value:
            if name in wanted:
                _prune(value[name], below, noted[name], wanted[name])
            else:
                del value[name]
        elif kind == "k" and type(noted) is list:
            found, before, after = (_element(each, orjson.loads(name)) for each in (value, noted, wanted))
            if found and before and after:
                _prune(found, below, before, after)
            elif found and before:
                value.remove(found)


def _element(listed: list[Object], keys: Object) -> Object | None:
    """The element of a list with these keys. One that is not written, such as the protocol of a port, fits: the API
    server has filled it in."""
    for each in listed:
        written = {key: each[key] for key in keys if key in each}
        if written and written.items() <= keys.items():
            return each
    return None


def _shown(found: Object, wanted: Object) -> Object:
    """The object without what no manifest says."""
    metadata = {key: value for key, value in found["metadata"].items() if key not in _OF_THE_SERVER}
    annotations = dict(metadata.pop("annotations", None) or {})
    annotations.pop(_LAST_APPLIED, None)
    if annotations:
        metadata["annotations"] = annotations
    shown = {key: value for key, value in found.items() if key != "status"} | {"metadata": metadata}
    if shown.get("webhooks"):
        given = {each["name"] for each in wanted.get("webhooks") or [] if "caBundle" in each["clientConfig"]}
        shown["webhooks"] = [each if each["name"] in given else _without_bundle(each) for each in shown["webhooks"]]
    return shown


def _without_bundle(webhook: Object) -> Object:
    client = {key: value for key, value in webhook["clientConfig"].items() if key != "caBundle"}
    return {**webhook, "clientConfig": client}
