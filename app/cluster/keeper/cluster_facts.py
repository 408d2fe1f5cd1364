"""Cluster facts: what exists and what runs, for servers that may not look for themselves.

The format is that of app/sources/facts.py.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Final

import orjson

from app.cluster.client import Cluster
from app.cluster.errors import ClusterError, Forbidden, NotFound
from app.cluster.keeper.log import Log, Metrics, Once
from app.cluster.keeper.running import Running, running
from app.cluster.keeper.settings import Settings
from app.cluster.keeper.stored import Store
from app.cluster.keeper.times import FACTS_INTERVAL, FACTS_REWRITTEN, PODS_INTERVAL
from app.manifests.keeper_names import CLUSTER_FACTS, FACTS_KEY
from app.policy.compiled import Policy
from app.sources.facts import parse_facts
from app.workloads.facts import claim_template

MAX_SIZE: Final = 900_000
"""Bytes. The API server takes objects of 1 MiB in a ConfigMap, its other fields with it."""

Facts = dict[str, Any]


class FactsWriter:
    """Collects the facts and writes them into their ConfigMap, when they changed or are about to be too old."""

    def __init__(
        self,
        cluster: Cluster,
        maps: Store,
        settings: Settings,
        log: Log,
        metrics: Metrics,
        clock: Callable[[], float],
    ) -> None:
        self._cluster = cluster
        self._maps = maps
        self._settings = settings
        self._log = log
        self._once = Once(log)
        self._metrics = metrics
        self._clock = clock
        self._looked: float | None = None
        self._pods_looked: float | None = None
        self._namespaces: Running | None = None

    def step(self, policy: Policy | None, now: datetime) -> None:
        """Collect and write what is due; ``policy`` is the one that running workloads are judged by."""
        if self._looked is not None and self._clock() - self._looked < FACTS_INTERVAL:
            return
        facts = self._collect(policy, now)
        stored = self._maps.read(CLUSTER_FACTS)
        before = stored.data.get(FACTS_KEY) if stored else None
        if before is None or _changed(before, facts) or _age(before, now) >= FACTS_REWRITTEN:
            facts = {"version": 1, "collectedAt": now.strftime("%Y-%m-%dT%H:%M:%SZ"), **facts}
            content, left_out = bounded(facts)
            if left_out:
                self._once.event("facts_too_large", "warning", left_out=left_out)
            self._maps.write(CLUSTER_FACTS, {FACTS_KEY: content}, stored)
            self._metrics.facts_written.set(now.timestamp())
        self._looked = self._clock()

    def _collect(self, policy: Policy | None, now: datetime) -> Facts:
        listed = {
            "runtimeClasses": self._listed("/apis/node.k8s.io/v1/runtimeclasses", _runtime_class),
            "deviceClasses": self._listed("/apis/resource.k8s.io/v1/deviceclasses", _device_class),
            "claimTemplates": self._listed("/apis/resource.k8s.io/v1/resourceclaimtemplates", _claim_template),
        }
        facts: Facts = {key: entries for key, entries in listed.items() if entries is not None}
        if policy is not None and self._settings.workloads:
            if self._pods_looked is None or self._clock() - self._pods_looked >= PODS_INTERVAL:
                self._namespaces = self._running(policy, facts, now)
                self._pods_looked = self._clock()
            if self._namespaces is not None:
                facts["namespaces"] = self._namespaces
        return facts

    def _running(self, policy: Policy, facts: Facts, now: datetime) -> Running | None:
        known = parse_facts(orjson.dumps({"version": 1, **facts})).facts
        # What has ended holds no GPU, and is most of what many clusters list.
        ended = "status.phase!=Succeeded,status.phase!=Failed"
        try:
            pages = self._cluster.pages("/api/v1/pods", fieldSelector=ended)
            return running(policy, (pod for page in pages for pod in page), known, now.date())
        except Forbidden as error:
            self._missing("namespaces", error)
            return None

    def _listed(self, path: str, fact: Callable[[dict[str, Any]], Facts | None]) -> list[Facts] | None:
        """The facts of a list, in its order; None if it may not be seen, or the cluster does not know the kind."""
        try:
            return [found for page in self._cluster.pages(path) for each in page if (found := fact(each)) is not None]
        except NotFound:
            return None
        except Forbidden as error:
            self._missing(path.rpartition("/")[2], error)
            return None

    def _missing(self, what: str, error: ClusterError) -> None:
        self._once.event(f"facts_without_{what}", "warning", reason=str(error))


def bounded(facts: Facts) -> tuple[bytes, list[str]]:
    """The facts as JSON that fits into a ConfigMap, and what had to be left out for that."""
    left_out: list[str] = []
    content = orjson.dumps(facts)
    for what, smaller in _smaller(facts):
        if len(content) <= MAX_SIZE:
            break
        left_out.append(what)
        content = orjson.dumps(smaller)
    return content, left_out


def _smaller(facts: Facts) -> Iterator[tuple[str, Facts]]:
    """The facts with more and more left out: first what only makes messages better."""
    bare = {
        name: {key: value for key, value in entry.items() if key != "examples"}
        for name, entry in (facts.get("namespaces") or {}).items()
    }
    yield "examples", {**facts, "namespaces": bare}
    for key in ("namespaces", "claimTemplates", "deviceClasses", "runtimeClasses"):
        facts = {name: value for name, value in facts.items() if name != key}
        yield key, facts


def _changed(before: bytes, facts: Facts) -> bool:
    """Whether the facts are others than those that were written, whenever that was."""
    try:
        written = orjson.loads(before)
    except orjson.JSONDecodeError:
        return True
    if not isinstance(written, dict):
        return True
    # Left out for its size, it is left out again.
    kept = orjson.loads(bounded({"version": 1, "collectedAt": written.get("collectedAt"), **facts})[0])
    return bool(kept != written)


def _age(before: bytes, now: datetime) -> float:
    """Seconds since the facts were collected; far too many if they do not say."""
    try:
        collected = parse_facts(before).collected_at
    except ValueError:
        collected = None
    # From the future they came by another clock, and would never be old.
    age = (now - collected).total_seconds() if collected else FACTS_REWRITTEN
    return age if age >= 0 else FACTS_REWRITTEN


def _runtime_class(obj: dict[str, Any]) -> Facts:
    fields = {key: obj[key] for key in ("handler", "overhead", "scheduling") if obj.get(key)}
    return {"name": obj["metadata"]["name"], **fields}


def _device_class(obj: dict[str, Any]) -> Facts:
    name = (obj.get("spec") or {}).get("extendedResourceName")
    return {"name": obj["metadata"]["name"], **({"extendedResourceName": name} if name else {})}


def _claim_template(obj: dict[str, Any]) -> Facts | None:
    found = claim_template(obj)
    if found is None or found.namespace is None:
        return None
    return {"namespace": found.namespace, "name": found.name, "deviceClasses": list(found.device_classes)}
