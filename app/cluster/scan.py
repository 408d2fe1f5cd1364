"""The verdicts over what is in a cluster: every workload and every pod that no workload stands for.

Lists are read page by page, workloads first, and each object is let go once it is judged.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from app.cluster.client import Cluster
from app.cluster.discovery import Resource, resources
from app.cluster.errors import ClusterError, NotFound, Unauthenticated, Unreachable
from app.cluster.facts import CLAIM_TEMPLATES, cluster_facts
from app.cluster.owners import Owners
from app.policy.compiled import MODE_LABEL, Mode, Policy
from app.policy.kinds import kinds_of
from app.report.judging import Judging
from app.report.live import judged_live
from app.report.results import InputError, JudgedObject
from app.report.snapshot import ClusterId, Snapshot
from app.report.survey import Survey
from app.workloads.finished import finished

_POD: Final = ("", "Pod")
_LAST: Final = (("batch", "CronJob"), ("batch", "Job"), ("apps", "ReplicaSet"), ("", "ReplicationController"), _POD)
"""What other kinds own, after them; every other kind comes before."""


@dataclass(slots=True)
class Progress:
    """How far a scan is: objects read, and of them pods counted to a workload, and objects that have finished."""

    namespaces: int = 0
    objects: int = 0
    counted: int = 0
    finished: int = 0


class Scan:
    """One look at a cluster, or at these ``namespaces`` of it; by ``mode``, or by each namespace's own for None.

    ``tick`` is called after each page. Kinds without a namespace are left out: pods are made of them in the namespaces
    of others, which are judged.
    """

    def __init__(
        self,
        cluster: Cluster,
        policy: Policy,
        today: date,
        *,
        namespaces: Collection[str] = (),
        mode: Mode | None = None,
        tick: Callable[[Progress], None] | None = None,
    ) -> None:
        self.progress = Progress()
        self._cluster = cluster
        self._policy = policy
        self._today = today
        # In the order given, each once. None stands for all, which one list has.
        self._namespaces: tuple[str | None, ...] = tuple(dict.fromkeys(namespaces)) or (None,)
        self._mode = mode
        self._tick = tick
        self._survey = Survey(policy, today)
        self._modes: dict[str, Mode | None] = {}
        """By namespace; None for one that is being deleted."""

    def objects(self) -> Iterator[JudgedObject | InputError]:
        """Everything judged, and what could not be: that is passed over, and the rest goes on.

        Raises ClusterError if the namespaces cannot be read, or the cluster is lost on the way.
        """
        for obj in self._namespace_objects():
            self._add_namespace(obj)
        kinds = kinds_of(self._policy)
        listed, unknown = resources(self._cluster, {*kinds, CLAIM_TEMPLATES})
        found = {resource[:2]: resource for resource in listed}
        facts, unread = cluster_facts(self._cluster, found.pop(CLAIM_TEMPLATES, None), self._namespaces)
        for where, errors in (("kinds of the cluster", unknown), ("cluster facts", unread)):
            for error in errors:
                yield self.failure(where, str(error))
        judging = Judging(self._policy, facts, self._today)
        owners = Owners(kind for kind in found if kind != _POD)
        for resource in sorted(found.values(), key=_order):
            try:
                for page in self._pages(resource):
                    for obj in page:
                        yield from self._judged(obj, resource, owners, kinds, judging)
                    if self._tick is not None:
                        self._tick(self.progress)
            except (Unreachable, Unauthenticated):
                raise
            except ClusterError as error:
                owners.unread(resource[:2])
                yield self.failure(resource.title, str(error))

    def snapshot(self, taken_at: datetime) -> Snapshot:
        """What was seen, once all ``objects`` are read; the states are those of `enforce`, whatever the mode."""
        return self._survey.snapshot(taken_at, ClusterId(self._cluster.context, self._cluster.server))

    def failure(self, where: str, message: str) -> InputError:
        """Take note of something that could not be read or judged."""
        self._survey.error(where, message)
        return InputError(where, 1, 1, message, live=True)

    def _judged(
        self, obj: dict[str, Any], resource: Resource, owners: Owners, kinds: Any, judging: Judging
    ) -> Iterator[JudgedObject | InputError]:
        metadata = obj["metadata"]
        self.progress.objects += 1
        if resource[:2] == _POD:
            ended, owner = finished(obj), owners.of_pod(obj)
            self.progress.finished += ended
            if owner is not None:
                if not ended:
                    self._survey.pod_of(owner)
                    self.progress.counted += 1
                return
        elif not owners.stands_alone(obj):
            return
        else:
            ended = finished(obj)
            self.progress.finished += ended
        mode = None if ended else self._mode_of(metadata["namespace"])
        if mode is None:
            return
        live = judged_live(obj, kinds, judging, mode)
        for error in live.errors:
            yield self.failure(error.file, error.message)
        self._survey.take(metadata["uid"], live)
        if resource[:2] == _POD:
            self._survey.pod_of(metadata["uid"])
        yield live.judged

    def _pages(self, resource: Resource) -> Iterator[list[dict[str, Any]]]:
        for namespace in self._namespaces:
            yield from self._cluster.pages(resource.path(namespace))

    def _namespace_objects(self) -> Iterator[dict[str, Any]]:
        for namespace in self._namespaces:
            if namespace:
                yield self._cluster.get(f"/api/v1/namespaces/{namespace}")
            else:
                for page in self._cluster.pages("/api/v1/namespaces"):
                    yield from page

    def _add_namespace(self, obj: dict[str, Any]) -> Mode | None:
        metadata = obj["metadata"]
        name = str(metadata["name"])
        if metadata.get("deletionTimestamp"):
            self._modes[name] = None
            return None
        self.progress.namespaces += 1
        label = (metadata.get("labels") or {}).get(MODE_LABEL)
        state = self._survey.namespace(name, label)
        self._modes[name] = self._mode or state.mode
        return self._modes[name]

    def _mode_of(self, namespace: str) -> Mode | None:
        """The mode to judge by; None in a namespace that is being deleted. One may be younger than the list of them."""
        if namespace in self._modes:
            return self._modes[namespace]
        try:
            return self._add_namespace(self._cluster.get(f"/api/v1/namespaces/{namespace}"))
        except NotFound:
            self._modes[namespace] = None
            return None


def _order(resource: Resource) -> tuple[int, Resource]:
    kind = resource[:2]
    return (_LAST.index(kind) + 1 if kind in _LAST else 0, resource)
