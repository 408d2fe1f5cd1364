"""Events on the ConfigMap that people write the policy into: what `kubectl describe` shows them."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

from app.cluster.client import Cluster
from app.cluster.errors import ClusterError
from app.cluster.keeper.log import Log, Once
from app.manifests.keeper_names import KEEPER

_MAX_MESSAGE: Final = 1000
"""The API server takes 1,024 characters."""


class SourceEvents:
    """Says at the ConfigMap why its policy was refused: once for each of its versions, and only if that is allowed."""

    def __init__(self, cluster: Cluster, namespace: str, log: Log, now: Callable[[], datetime]) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._once = Once(log)
        self._now = now
        self._said: str | None = None

    def refused(self, config_map: dict[str, Any], problems: Sequence[str], version: str) -> None:
        """Write the event. That it cannot be written stops nothing."""
        if version == self._said:
            return
        self._said = version
        time = self._now().strftime("%Y-%m-%dT%H:%M:%SZ")
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        meta = config_map["metadata"]
        event = {
            "metadata": {"generateName": f"{meta['name']}-", "namespace": self._namespace},
            "involvedObject": {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "namespace": self._namespace,
                "name": meta["name"],
                "uid": meta["uid"],
                "resourceVersion": version,
            },
            "type": "Warning",
            "reason": "PolicyRefused",
            "message": f"not handed on to the servers: {problems[0]}{more}"[:_MAX_MESSAGE],
            "source": {"component": KEEPER},
            "reportingComponent": KEEPER,
            "firstTimestamp": time,
            "lastTimestamp": time,
            "count": 1,
        }
        try:
            self._cluster.create(f"/api/v1/namespaces/{self._namespace}/events", event)
        except ClusterError as error:
            self._once.event("no_event", "warning", reason=str(error))
