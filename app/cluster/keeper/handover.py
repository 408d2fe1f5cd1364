"""A policy on its way from people to servers, and the webhook configurations in step with it.

The order: a policy that has errors goes nowhere. A good one waits until the configurations, made wide enough for the
present policy and the new one, are known to the API servers. Then the servers get it. Once all of them run it, the
configurations are narrowed to it. So no pod that the new policy judges is ever kept from a server that has it.
"""

from collections.abc import Sequence
from typing import Any, Final

from app.cluster.keeper.certificates import Ask
from app.cluster.keeper.configurations import Configurations, Observed
from app.cluster.keeper.events import SourceEvents
from app.cluster.keeper.log import Log, Metrics, Once
from app.cluster.keeper.policies import Held, Policies
from app.cluster.keeper.settings import Settings
from app.cluster.keeper.since import Since
from app.manifests.client import Service
from app.manifests.keeper_names import POLICY_SOURCE
from app.manifests.objects import configurations
from app.manifests.scope import scope_digest, scope_digests
from app.manifests.transition import transition
from app.policy.compiled import Policy

_SHOWN: Final = 20
"""Problems of a policy, and differences of a configuration, that a log line holds."""


class Handover:
    """Does the next step of the order, whatever was done before, and by whom."""

    def __init__(
        self,
        policies: Policies,
        writer: Configurations,
        events: SourceEvents,
        settings: Settings,
        log: Log,
        metrics: Metrics,
        since: Since,
    ) -> None:
        self._policies = policies
        self._writer = writer
        self._events = events
        self._settings = settings
        self._log = log
        self._once = Once(log)
        self._metrics = metrics
        self._since = since

    def step(self, observed: Observed, ask: Ask, bundle: bytes | None) -> Policy | None:
        """Look at both policies and the configurations; the policy that servers should run. Raises ClusterError."""
        source, served = self._policies.source(), self._policies.served()
        self._report(source)
        new = source.policy if source else None
        present = served.policy if served else None
        if source is not None and new is not None and present is None:
            # No server can run without one, so nothing depends on the configurations yet.
            self._hand_on(source, served)
            return new
        if present is None:
            self._once.event("no_policy", "warning", configmap=POLICY_SOURCE)
            return None
        assert served is not None
        changed = source is not None and new is not None and source.files != served.files
        self._metrics.policy_pending.set(1 if changed else 0)
        if self._settings.gitops:
            self._only_look(observed, present, source if changed else None, served, bundle)
        elif changed and source and new and not self._still_arriving(observed, present, new):
            self._widen(observed, present, new, source, served, ask, bundle)
        else:
            self._keep(observed, present, ask, bundle)
        return present

    def _report(self, source: Held | None) -> None:
        problems = [str(problem) for problem in source.problems] if source else []
        self._metrics.policy_refused.set(1 if problems else 0)
        if source is None or not problems:
            if self._once.over("policy_refused"):
                self._log.event("policy_mended", configmap=POLICY_SOURCE)
            return
        version = source.stored.obj["metadata"]["resourceVersion"]
        self._once.event("policy_refused", "error", configmap=POLICY_SOURCE, problems=problems[:_SHOWN])
        self._events.refused(source.stored.obj, problems, version)

    def _still_arriving(self, observed: Observed, present: Policy, new: Policy) -> bool:
        """Whether servers are still waited for with the present policy: the next one has to wait for that."""
        return self._waiting(observed, present) and observed.scopes()[0] != _both(present, new)

    def _waiting(self, observed: Observed, present: Policy) -> bool:
        """True if the configurations are wide enough for the present policy, and for one before it."""
        return all(len(scopes) == 2 and scope_digest(present) in scopes for scopes in observed.scopes())

    def _widen(
        self,
        observed: Observed,
        present: Policy,
        new: Policy,
        source: Held,
        served: Held,
        ask: Ask,
        bundle: bytes | None,
    ) -> None:
        wanted = transition(present, new, self._settings.client)
        differences = observed.differences(wanted)
        self._write(observed, wanted, ask, bundle, f"servers will change from policy {present.digest} to {new.digest}")
        known = None if differences else observed.content
        if self._since.seconds("configurations known", known) >= self._settings.settle and known:
            self._hand_on(source, served)

    def _keep(self, observed: Observed, present: Policy, ask: Ask, bundle: bytes | None) -> None:
        wanted = configurations(present, self._settings.client, "tight")
        # It goes on being known while nothing changes, so that a policy of the same scope need not wait.
        self._since.seconds("configurations known", None if observed.differences(wanted) else observed.content)
        if not self._waiting(observed, present):
            self._write(observed, wanted, ask, bundle, f"policy {present.digest}")
        elif self._arrived(present, ask):
            self._write(observed, wanted, ask, bundle, f"servers run policy {present.digest}")
        else:
            self._metrics.policy_pending.set(1)
            if bundle is not None:
                self._writer.trust(observed, bundle)

    def _arrived(self, present: Policy, ask: Ask) -> bool:
        """True once every server has run the policy for a while, or has had more time than it could need."""
        answers = ask()
        behind = None if answers is None else [each.address for each in answers if each.policy != present.digest]
        run = present.digest if behind == [] else None
        if self._since.seconds("policy run", run) >= self._settings.settle and run:
            self._log.event("policy_in_force", policy=present.digest, servers=len(answers or ()))
            return True
        if self._since.seconds("policy handed on", present.digest) >= self._settings.handover:
            self._log.event("policy_not_seen", "warning", policy=present.digest, servers=behind)
            return True
        return False

    def _only_look(
        self, observed: Observed, present: Policy, source: Held | None, served: Held, bundle: bytes | None
    ) -> None:
        """Somebody else writes the configurations: say what is not as it should be, and wait for it."""
        if bundle is not None and self._settings.certificates:
            self._writer.trust(observed, bundle)
        scopes = observed.scopes()
        if source is not None and source.policy is not None:
            reached = all(digests & scope_digests(source.policy) for digests in scopes)
            known = observed.content if reached else None
            if self._since.seconds("configurations known", known) >= self._settings.settle and known:
                self._hand_on(source, served)
            elif not reached:
                self._once.event("configurations_behind", "warning", policy=source.policy.digest)
            return
        broad = all(scope_digest(present, "broad") in digests for digests in scopes)
        wanted = configurations(present, self._settings.client, "broad" if broad else "tight")
        drift = observed.differences(wanted)
        for kind in observed.found:
            lines = drift.get(kind, [])
            self._metrics.drift.labels(kind).set(1 if lines else 0)
            if lines:
                self._once.event(f"drift_of_{kind}", "warning", changes=lines[:_SHOWN])
            else:
                self._once.over(f"drift_of_{kind}")

    def _write(
        self, observed: Observed, wanted: Sequence[dict[str, Any]], ask: Ask, bundle: bytes | None, why: str
    ) -> None:
        # Who cannot say what to trust takes nothing away of what is trusted.
        bundle = bundle or observed.bundle or None
        if bundle is None and isinstance(self._settings.client, Service):
            # An API server would trust its machine's own roots then, and refuse every pod that fails closed.
            self._once.event("no_bundle", "warning", why="there is no authority yet to trust")
            return
        if not observed.calling and not self._answered(ask):
            return
        if self._writer.write(observed, wanted, bundle, why):
            self._once.over("no_server")

    def _answered(self, ask: Ask) -> bool:
        """True once a server is ready, or none was for long: entries are not made for nobody to answer them."""
        answers = ask() or []
        if any(each.ready for each in answers):
            self._since.seconds("no server", None)
            return True
        self._once.event("no_server", "warning", why="the webhook configurations are made once a server is ready")
        return self._since.seconds("no server", "none is ready") >= self._settings.handover

    def _hand_on(self, source: Held, served: Held | None) -> None:
        assert source.policy is not None
        self._policies.hand_on(source, served)
        self._metrics.handovers.inc()
        self._since.seconds("policy handed on", source.policy.digest)
        self._log.event("policy_handed_on", policy=source.policy.digest)


def _both(old: Policy, new: Policy) -> frozenset[str]:
    return frozenset((scope_digest(old), scope_digest(new)))
