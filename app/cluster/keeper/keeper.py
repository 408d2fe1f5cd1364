"""One look at everything, in order: certificates, policy and configurations, facts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from time import monotonic

from app.cluster.client import Cluster
from app.cluster.errors import ClusterError, Conflict, Unreachable
from app.cluster.keeper.certificates import GivenCertificates, MadeCertificates, Trust
from app.cluster.keeper.cluster_facts import FactsWriter
from app.cluster.keeper.configurations import Configurations, Observed
from app.cluster.keeper.events import SourceEvents
from app.cluster.keeper.handover import Handover
from app.cluster.keeper.log import Log, Metrics, Once
from app.cluster.keeper.policies import Policies
from app.cluster.keeper.servers import Answer, Servers
from app.cluster.keeper.settings import Settings
from app.cluster.keeper.since import Since
from app.cluster.keeper.stored import Store
from app.policy.compiled import Policy


def _now() -> datetime:
    return datetime.now(UTC)


class Keeper:
    """Does what is next, at each ``step``. ``now`` is the time that certificates are judged by."""

    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        log: Log,
        metrics: Metrics,
        *,
        now: Callable[[], datetime] = _now,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._now = now
        self._log = log
        self._once = Once(log)
        self._metrics = metrics
        since = Since(clock)
        secrets = Store(cluster, settings.namespace, "Secret")
        maps = Store(cluster, settings.namespace, "ConfigMap")
        self._servers = Servers(cluster, settings)
        self._configurations = Configurations(cluster, settings, log, metrics)
        made = MadeCertificates if settings.certificates else GivenCertificates
        self._trust: Trust = made(secrets, settings, log, metrics, since)
        events = SourceEvents(cluster, settings.namespace, log, now)
        self._handover = Handover(Policies(maps), self._configurations, events, settings, log, metrics, since)
        self._facts = FactsWriter(cluster, maps, settings, log, metrics, clock)
        self._bundle: bytes | None = None
        self._policy: Policy | None = None

    def step(self) -> bool:
        """Look once. False if the cluster kept a part from being done, which is logged: the others go on."""
        done: list[bool] = []
        asked: list[list[Answer] | None] = []

        def ask() -> list[Answer] | None:
            if not asked:
                asked.append(self._ask())
            return asked[0]

        with self._part("certificates", done):
            self._bundle = self._trust.step(self._configurations.read(), ask, self._now())
        with self._part("policy", done):
            observed: Observed = self._configurations.read()
            self._policy = self._handover.step(observed, ask, self._bundle)
        with self._part("facts", done):
            self._facts.step(self._policy, self._now())
        return all(done)

    def _ask(self) -> list[Answer] | None:
        try:
            answers = self._servers.ask()
        except Unreachable:
            raise
        except ClusterError as error:
            self._once.event("servers_unknown", "warning", reason=str(error))
            return None
        problems = {each.address: each.problem for each in answers if each.problem}
        if problems:
            self._once.event("servers_silent", "warning", servers=problems)
        return answers

    @contextmanager
    def _part(self, part: str, done: list[bool]) -> Iterator[None]:
        try:
            yield
        except Conflict:
            # Another keeper, or a person, was faster: what they did is looked at the next time.
            self._log.event("changed_meanwhile", part=part)
            done.append(True)
        except ClusterError as error:
            self._metrics.errors.labels(part).inc()
            self._once.event(f"{part}_stopped", "error", reason=str(error), kind=type(error).__name__)
            done.append(False)
        else:
            if self._once.over(f"{part}_stopped"):
                self._log.event(f"{part}_goes_on")
            self._metrics.success.labels(part).set(self._now().timestamp())
            done.append(True)
