"""What the connections of one port share: bounds on their number and on what they hold, and counts of those ended."""

from collections.abc import Iterator
from typing import Final, Literal

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

Reason = Literal["deadline", "idle", "limit", "memory"]

_OPEN: Final = "Connections that are open, after their TLS handshake."
_ENDED: Final = (
    "Connections ended by the server: a request did not arrive in time (deadline), nothing was asked for too long "
    "(idle), there were too many (limit), unfinished bodies held too much (memory)."
)


class Connections(Collector):
    """The connections of one port; ``most`` of them may be open.

    ``held`` are the bytes of requests that have not arrived whole.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.held = 0
        self.open = 0
        self.ended: dict[Reason, int] = {"deadline": 0, "idle": 0, "limit": 0, "memory": 0}

    def collect(self) -> Iterator[Metric]:
        """The counts as metric families."""
        yield GaugeMetricFamily("gpugate_connections", _OPEN, value=self.open)
        ended = CounterMetricFamily("gpugate_connections_ended", _ENDED, labels=("reason",))
        for reason, count in self.ended.items():
            ended.add_metric((reason,), count)
        yield ended
