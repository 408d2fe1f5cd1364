"""What a keeper says: events for the log, and numbers for Prometheus."""

from datetime import datetime
from typing import Any, Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, disable_created_metrics

from app import __version__

disable_created_metrics()  # type: ignore[no-untyped-call]

PARTS = ("certificates", "policy", "facts")


class Log(Protocol):
    """Takes events: ``{"event": ..., "level": ..., ...}``, one JSON line each."""

    def event(self, event: str, level: str = "info", **fields: Any) -> None:
        """Write something that happened."""


class Metrics:
    """All metrics of one keeper, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self._expiry = Gauge(
            "gpugate_keeper_certificate_expiry_timestamp_seconds",
            "End of the validity of the present authority, and of the servers' certificate in the Secret.",
            ("certificate",),
            registry=registry,
        )
        self.rotating = Gauge(
            "gpugate_keeper_rotating", "1 while an old authority is still trusted.", registry=registry
        )
        self.certificates = Counter(
            "gpugate_keeper_certificates", "Certificates made, by kind.", ("certificate",), registry=registry
        )
        self.drift = Gauge(
            "gpugate_keeper_configuration_drift",
            "1 if a webhook configuration is not that of the policy, and nobody mends it (--gitops).",
            ("configuration",),
            registry=registry,
        )
        self.writes = Counter(
            "gpugate_keeper_configuration_writes",
            "Webhook configurations written.",
            ("configuration",),
            registry=registry,
        )
        self.policy_refused = Gauge(
            "gpugate_keeper_policy_refused",
            "1 while the policy that people wrote has errors and is not handed on.",
            registry=registry,
        )
        self.policy_pending = Gauge(
            "gpugate_keeper_policy_pending",
            "1 while a good policy is not yet in force everywhere.",
            registry=registry,
        )
        self.handovers = Counter("gpugate_keeper_policy_handovers", "Policies handed on to servers.", registry=registry)
        self.facts_written = Gauge(
            "gpugate_keeper_facts_timestamp_seconds", "When the cluster facts were last written.", registry=registry
        )
        self.errors = Counter(
            "gpugate_keeper_errors", "Looks that ended early because the cluster said no.", ("part",), registry=registry
        )
        self.success = Gauge(
            "gpugate_keeper_success_timestamp_seconds",
            "When a part last did all it should.",
            ("part",),
            registry=registry,
        )
        for part in PARTS:
            self.errors.labels(part)
            self.success.labels(part).set(0)
        build = Gauge("gpugate_keeper_build_info", "The running version.", ("version",), registry=registry)
        build.labels(__version__).set(1)

    def expires(self, certificate: str, when: datetime) -> None:
        """Note the end of validity of ``authority`` or ``server``."""
        self._expiry.labels(certificate).set(when.timestamp())


class Once:
    """Says a thing once, until it changes."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._said: dict[str, object] = {}

    def event(self, event: str, level: str = "info", **fields: Any) -> None:
        """Write the event, unless it was the last of its name and said the same."""
        if self._said.get(event) != fields:
            self._said[event] = fields
            self._log.event(event, level, **fields)

    def over(self, event: str) -> bool:
        """Forget the event; True if it had been said."""
        return self._said.pop(event, None) is not None
