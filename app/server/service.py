"""What the parts of the server share: policy, facts, certificate, metrics, log, and whether it may be called."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from app.model.context import UNKNOWN_CLUSTER, ClusterFacts
from app.server.decisions import Decisions
from app.server.facts import FactsFile
from app.server.limits import MAX_TEXT
from app.server.log import JsonLog
from app.server.metrics import Metrics
from app.server.recording import Recording
from app.server.store import PolicyStore


@dataclass(slots=True)
class Service:
    """The state of one server. Everything here is touched by the event loop's thread only, or replaced whole."""

    policies: PolicyStore
    metrics: Metrics
    log: JsonLog
    facts_file: FactsFile | None = None
    recording: Recording | None = None
    certificate_expiry: datetime | None = None
    draining: bool = False
    decisions: Decisions = field(init=False)
    today: date = field(default_factory=lambda: datetime.now(UTC).date())
    _mismatches: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.decisions = Decisions(self.metrics.reviews, self.log)

    @property
    def facts(self) -> ClusterFacts:
        """What is known of the cluster now."""
        return self.facts_file.current if self.facts_file else UNKNOWN_CLUSTER

    def not_ready(self) -> list[str]:
        """Why the server should not be called, one reason an entry; empty if it is ready."""
        reasons = []
        if self.draining:
            reasons.append("draining: the server is about to stop")
        if self.certificate_expiry is None:
            reasons.append("certificate: none loaded")
        elif self.certificate_expiry < datetime.now(UTC):
            reasons.append(f"certificate: expired on {self.certificate_expiry:%Y-%m-%d %H:%M} UTC")
        return reasons

    def notes(self) -> list[str]:
        """What is wrong without being a reason not to be called."""
        notes = []
        if self._mismatches:
            called = ", ".join(sorted(self._mismatches))
            notes.append(f"scope: {called} called with the digest of another scope than the policy in force has")
        if self.facts_file and self.facts_file.state != "fresh":
            notes.append(f"cluster facts: {self.facts_file.state}")
        return notes

    def check_scope(self, endpoint: str, digest: str) -> None:
        """Compare the digest that a path carries with the scope of the policy in force.

        While one policy follows another, configurations send what either judges, and their paths carry both digests,
        with a dot between. The latest call of an endpoint counts: a configuration that was brought in step clears the
        mismatch.
        """
        scopes = self.policies.current.scopes
        if scopes is None or digest in scopes or not scopes.isdisjoint(digest.split(".")):
            if self._mismatches.pop(endpoint, None) is not None:
                self.metrics.scope_mismatch.set(1 if self._mismatches else 0)
            return
        if self._mismatches.get(endpoint) == digest:
            return
        self._mismatches[endpoint] = digest
        self.metrics.scope_mismatch.set(1)
        self.log.event(
            "scope_mismatch", "error", endpoint=endpoint, configured=digest[:MAX_TEXT], in_force=sorted(scopes)
        )

    def policy_changed(self) -> None:
        """Forget the mismatches with the policy that was in force before."""
        self._mismatches.clear()
        self.metrics.scope_mismatch.set(0)
