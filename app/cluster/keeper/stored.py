"""Secrets and ConfigMaps of the keeper's namespace: read, made, and changed if nobody else did meanwhile."""

from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from app.cluster.client import Cluster
from app.cluster.errors import NotFound
from app.manifests.metadata import metadata

MANAGER_LABEL: Final = "app.kubernetes.io/managed-by"
MANAGER: Final = "gpugate-keeper"


class Stored(NamedTuple):
    """An object as it is in the cluster, with its data as bytes (Secret) or text (ConfigMap) encoded to bytes."""

    obj: dict[str, Any]
    data: dict[str, bytes]

    @property
    def annotations(self) -> dict[str, str]:
        """Its annotations."""
        return dict(self.obj["metadata"].get("annotations") or {})

    @property
    def ours(self) -> bool:
        """True if a keeper made it."""
        return (self.obj["metadata"].get("labels") or {}).get(MANAGER_LABEL) == MANAGER


class Store:
    """The Secrets or the ConfigMaps of one namespace. Raises ClusterError; Conflict if somebody else was faster."""

    def __init__(self, cluster: Cluster, namespace: str, kind: str) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._kind = kind
        self._collection = f"/api/v1/namespaces/{namespace}/{kind.lower()}s"

    def path(self, name: str) -> str:
        """The API path of one of them."""
        return f"{self._collection}/{name}"

    def read(self, name: str) -> Stored | None:
        """The object; None if there is none."""
        try:
            obj = self._cluster.get(self.path(name))
        except NotFound:
            return None
        return Stored(obj, {key: self._decode(value) for key, value in (obj.get("data") or {}).items()})

    def write(
        self,
        name: str,
        data: Mapping[str, bytes],
        before: Stored | None,
        *,
        annotations: Mapping[str, str] | None = None,
        type: str | None = None,  # noqa: A002 - the field's name
    ) -> Stored:
        """Make the object, or put the data into the place of what was read ``before``; other fields stay."""
        content = {key: self._encode(value) for key, value in data.items()}
        if before is None:
            meta = metadata(name, "keeper", dict(annotations or {}))
            meta["labels"] = {**meta["labels"], MANAGER_LABEL: MANAGER}
            obj: dict[str, Any] = {"apiVersion": "v1", "kind": self._kind, "metadata": meta, "data": content}
            if type:
                obj["type"] = type
            return Stored(self._cluster.create(self._collection, obj), dict(data))
        meta = before.obj["metadata"]
        if annotations is not None:
            meta = {**meta, "annotations": dict(annotations)}
        changed = {**before.obj, "metadata": meta, "data": content}
        return Stored(self._cluster.replace(self.path(name), changed), dict(data))

    def _decode(self, value: str) -> bytes:
        if self._kind != "Secret":
            return value.encode()
        try:
            return b64decode(value, validate=True)
        except Error:
            return b""

    def _encode(self, value: bytes) -> str:
        return b64encode(value).decode("ascii") if self._kind == "Secret" else value.decode()
