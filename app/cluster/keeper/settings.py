"""What a keeper is told."""

from dataclasses import dataclass, field

from app.certs.rotation import Lifetimes
from app.cluster.keeper.times import HANDOVER, INTERVAL, SETTLE
from app.manifests.client import Client, Service, Url
from app.manifests.objects import NAME


@dataclass(frozen=True, slots=True)
class Settings:
    """One keeper. ``namespace`` is that of its Secrets and ConfigMaps; ``client`` is how API servers reach the servers.

    ``names`` are those that the server's certificate is for, beside those of the client. Without ``certificates``
    somebody else makes them. With ``gitops`` somebody else writes the webhook configurations.
    """

    namespace: str
    client: Client
    configuration: str = NAME
    names: tuple[str, ...] = ()
    certificates: bool = True
    gitops: bool = False
    workloads: bool = True
    lifetimes: Lifetimes = field(default_factory=Lifetimes)
    interval: float = INTERVAL
    settle: float = SETTLE
    handover: float = HANDOVER

    @property
    def server_names(self) -> tuple[str, ...]:
        """The DNS names and addresses that the server's certificate must be for, the one that is asked for first."""
        return tuple(dict.fromkeys((*_names(self.client), *self.names)))


def _names(client: Client) -> tuple[str, ...]:
    if isinstance(client, Url):
        return (client.host,)
    return _service_names(client)


def _service_names(service: Service) -> tuple[str, ...]:
    # API servers ask for the first; the others are for people and probes.
    short = f"{service.name}.{service.namespace}"
    return (f"{short}.svc", f"{short}.svc.cluster.local", short)
