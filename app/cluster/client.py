"""Requests to the API server of a cluster: raw dicts in and out, nothing dropped or defaulted on the way.

`kubernetes` finds the cluster and the credentials (connection.py) and makes the connections; its models are not used.
Every request has a timeout (transport.py); every failure is a ClusterError (errors.py) with one line for the user.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Self

import orjson

from app.cluster.connection import Connection, connection
from app.cluster.errors import Expired, Unreachable, error_of
from app.cluster.transport import Transport

JSON: Final = "application/json"
MERGE_PATCH: Final = "application/merge-patch+json"
JSON_PATCH: Final = "application/json-patch+json"
APPLY_PATCH: Final = "application/apply-patch+yaml"
"""Server-side apply, which needs ``fieldManager``. JSON is YAML too."""

PAGE: Final = 500
"""Objects a page of a list: what kubectl asks for."""


class Cluster:
    """The API server of one cluster. Paths are those of its API: ``/api/v1/namespaces/team-a/pods``.

    Every method raises ClusterError. 429 and 5xx are asked again a few times, writes only where nothing was done yet.
    May be used by several threads at once.
    """

    def __init__(self, made: Connection) -> None:
        self._transport = Transport(made)

    @classmethod
    def connect(cls, *, context: str | None = None, kubeconfig: str | None = None) -> Self:
        """The cluster of a context of the kubeconfig, else the one that this runs in. Nothing is asked of it yet.

        Raises NotConfigured.
        """
        return cls(connection(context, kubeconfig))

    @property
    def context(self) -> str | None:
        """The context of the kubeconfig; None inside a pod."""
        return self._transport.connection.context

    @property
    def server(self) -> str:
        """Where the API server is: ``https://10.0.0.1:6443``."""
        return str(self._transport.connection.configuration.host)

    @property
    def where(self) -> str:
        """The cluster in words, for messages."""
        return self._transport.connection.where

    @property
    def calls(self) -> int:
        """How many requests were made so far."""
        return self._transport.calls

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """An object, or a list in one piece."""
        return self._send("GET", path, None, query)

    def create(self, path: str, body: Mapping[str, Any], **query: Any) -> dict[str, Any]:
        """POST an object to the path of its collection; the object as it was stored."""
        return self._send("POST", path, body, query)

    def replace(self, path: str, body: Mapping[str, Any], **query: Any) -> dict[str, Any]:
        """PUT an object; with a ``resourceVersion`` in it, raises Conflict if it has changed since."""
        return self._send("PUT", path, body, query)

    def patch(self, path: str, body: Any, *, content_type: str = MERGE_PATCH, **query: Any) -> dict[str, Any]:
        """PATCH an object: by a merge patch, unless another ``content_type`` is given."""
        return self._send("PATCH", path, body, query, content_type)

    def delete(self, path: str, body: Mapping[str, Any] | None = None, **query: Any) -> dict[str, Any]:
        """DELETE an object; ``body`` are DeleteOptions."""
        return self._send("DELETE", path, body, query)

    def pages(self, path: str, *, limit: int = PAGE, **query: Any) -> Iterator[list[dict[str, Any]]]:
        """The objects of a list, page by page, each with its apiVersion and kind.

        While a list is read, the state that it began with may be forgotten (410). Then it goes on with the present
        state after the last object, so that no object comes twice. Raises Expired if the next page fails so too.
        """
        token: str | None = None
        last = after = ""
        resumed = False
        while True:
            try:
                page = self.get(path, limit=limit, **{**query, "continue": token})
            except Expired as error:
                if token is None or resumed:
                    raise
                # The API server says how to go on; where it does not: from the start, past what was seen.
                token, resumed = error.resume, True
                after = "" if token else last
                continue
            items = [_typed(item, page) for item in page.get("items") or [] if _key(item) > after]
            if items:
                last, resumed = _key(items[-1]), False
                yield items
            token = (page.get("metadata") or {}).get("continue")
            if not token:
                return

    def watch(self, path: str, resource_version: str, timeout: float) -> Iterator[dict[str, Any]]:
        """The events after a version, ``{"type": "ADDED", "object": {...}}``, until ``timeout`` seconds are over.

        Bookmarks are among them. Raises Expired if the version is too old: list again.
        """
        query = {
            "watch": True,
            "resourceVersion": resource_version,
            "timeoutSeconds": max(1, int(timeout)),
            "allowWatchBookmarks": True,
        }
        for line in self._transport.lines(path, query, timeout):
            event = self._read(line)
            if event.get("type") == "ERROR":
                status = event.get("object") or {}
                raise error_of(int(status.get("code") or 500), status, "GET", path, self.where, watch=True)
            yield event

    def _send(
        self, method: str, path: str, body: Any, query: Mapping[str, Any], content_type: str = JSON
    ) -> dict[str, Any]:
        return self._read(self._transport.send(method, path, body, query, content_type))

    def _read(self, content: bytes) -> dict[str, Any]:
        try:
            answer = orjson.loads(content)
        except orjson.JSONDecodeError:
            answer = None
        if type(answer) is not dict:
            raise Unreachable(f"what answers at {self.server} is no Kubernetes API server: {content[:80]!r}")
        return answer


def _typed(item: dict[str, Any], page: Mapping[str, Any]) -> dict[str, Any]:
    """The object, which the API server leaves the kind out of inside a list of it."""
    kind = str(page.get("kind") or "").removesuffix("List")
    return {"apiVersion": page.get("apiVersion"), "kind": kind, **item}


def _key(item: Mapping[str, Any]) -> str:
    """What lists are sorted by."""
    metadata = item.get("metadata") or {}
    return f"{metadata.get('namespace') or ''}/{metadata.get('name') or ''}"
