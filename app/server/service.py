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
    _refused: dict[str, str] = field(default_factory=dict)
    _mismatches: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.decisions = Decisions(self.metrics.reviews, self.log)

    @property
    def facts(self) -> ClusterFacts:
        """What is known of the cluster now."""
        return self.facts_file.current if self.facts_file else UNKNOWN_CLUSTER

    @property
    def policy_digest(self) -> str:
        """Of the policy in force."""
        return self.policies.current.policy.digest

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
        notes = [f"{what}: {problem}; the last good one stays in use" for what, problem in self._refused.items()]
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

    def policy_loaded(self) -> None:
        """Note that a policy came into force; mismatches were with the one before."""
        self._refused.pop("policy", None)
        self._mismatches.clear()
        self.metrics.scope_mismatch.set(0)
        self.metrics.policy_loaded.set(self.policies.current.loaded_at.timestamp())
        self.metrics.policy_reloaded.set(1)

    def policy_refused(self, problems: list[str]) -> None:
        """Note that the policy of the files cannot be used."""
        self._refused["policy"] = _first(problems)
        self.metrics.policy_reloaded.set(0)

    def certificate_loaded(self, expires: datetime) -> None:
        """Note that a certificate came into use, and the end of its validity."""
        self._refused.pop("certificate", None)
        self.certificate_expiry = expires
        self.metrics.certificate_expiry.set(expires.timestamp())
        self.metrics.certificate_reloaded.set(1)

    def certificate_refused(self, problems: list[str]) -> None:
        """Note that the certificate of the files cannot be used."""
        self._refused["certificate"] = _first(problems)
        self.metrics.certificate_reloaded.set(0)

    def settle_facts(self) -> None:
        """Choose the facts to judge by now, and log if they are other than before in what they are worth."""
        if self.facts_file is None:
            return
        before = self.facts_file.state
        state = self.facts_file.settle()
        if state != before:
            level = "info" if state == "fresh" else "warning"
            self.log.event("cluster_facts", level, state=state, path=str(self.facts_file.path))


def _first(problems: list[str]) -> str:
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return problems[0][:MAX_TEXT] + more
