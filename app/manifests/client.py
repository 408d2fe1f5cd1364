"""Where the API server reaches gpugate."""

from base64 import b64encode
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Url:
    """A server outside the cluster, or on the API server's machine; ``base`` is https, without a trailing slash."""

    base: str
    ca_bundle: bytes | None = None

    @property
    def host(self) -> str:
        """The DNS name or address that it is reached by."""
        return urlsplit(self.base).hostname or ""

    @property
    def port(self) -> int:
        """The port that it is reached at."""
        return urlsplit(self.base).port or 443

    def config(self, path: str) -> dict[str, Any]:
        """The ``clientConfig`` for a path like ``/mutate/enforce``."""
        return _trusting({"url": self.base + path}, self.ca_bundle)


@dataclass(frozen=True, slots=True)
class Service:
    """A Service of the cluster; its certificate must be for ``<name>.<namespace>.svc``."""

    namespace: str
    name: str
    port: int = 443
    ca_bundle: bytes | None = None

    def config(self, path: str) -> dict[str, Any]:
        """The ``clientConfig`` for a path like ``/mutate/enforce``."""
        service = {"namespace": self.namespace, "name": self.name, "port": self.port, "path": path}
        return _trusting({"service": service}, self.ca_bundle)


Client = Url | Service


def _trusting(config: dict[str, Any], ca_bundle: bytes | None) -> dict[str, Any]:
    # Without a bundle the API server trusts its machine's own roots.
    return config if ca_bundle is None else {**config, "caBundle": b64encode(ca_bundle).decode("ascii")}
