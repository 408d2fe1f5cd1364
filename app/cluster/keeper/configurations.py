"""The two webhook configurations: as they are, and brought to what they should be."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from app.certs.rotation import holds, merged
from app.cluster.client import Cluster
from app.cluster.errors import NotFound
from app.cluster.keeper.log import Log, Metrics
from app.cluster.keeper.settings import Settings
from app.manifests.drift import bundles, differences
from app.manifests.objects import SCOPE_ANNOTATION

_RESOURCES: Final = {
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}
_INJECTED: Final = "cert-manager.io/inject-"


@dataclass(frozen=True, slots=True)
class Observed:
    """The configurations by kind, as they were read; None where there is none."""

    found: dict[str, dict[str, Any] | None]

    @property
    def calling(self) -> bool:
        """True if there is an entry by which servers are called."""
        return any(each and each.get("webhooks") for each in self.found.values())

    @property
    def content(self) -> bytes:
        """Everything about the entries of both, to tell whether they stay the same."""
        return orjson.dumps([(each or {}).get("webhooks") for each in self.found.values()])

    @property
    def bundle(self) -> bytes:
        """All authorities that an entry trusts (PEM)."""
        return merged(*self._bundles())

    def trusts(self, bundle: bytes) -> bool:
        """True if every entry trusts all of the bundle's authorities."""
        return all(holds(each, bundle) for each in self._bundles())

    def scopes(self) -> list[frozenset[str]]:
        """The digests of the scopes that each configuration is for: two while servers change their policy."""
        annotations = [(each or {"metadata": {}})["metadata"].get("annotations") or {} for each in self.found.values()]
        return [frozenset(each.get(SCOPE_ANNOTATION, "").split(".")) - {""} for each in annotations]

    @property
    def injected(self) -> bool:
        """True if cert-manager writes the CA bundles."""
        annotations = [(each or {"metadata": {}})["metadata"].get("annotations") or {} for each in self.found.values()]
        return any(key.startswith(_INJECTED) for each in annotations for key in each)

    def differences(self, wanted: Sequence[dict[str, Any]]) -> dict[str, list[str]]:
        """What is not as wanted, by kind; CA bundles don't count."""
        found = {each["kind"]: differences(self.found[each["kind"]], each) for each in wanted}
        return {kind: lines for kind, lines in found.items() if lines}

    def _bundles(self) -> list[bytes]:
        return [bundle for each in self.found.values() if each for bundle in bundles(each)]


class Configurations:
    """Reads and writes the configurations of one name."""

    def __init__(self, cluster: Cluster, settings: Settings, log: Log, metrics: Metrics) -> None:
        self._cluster = cluster
        self._name = settings.configuration
        self._log = log
        self._metrics = metrics

    def read(self) -> Observed:
        """The configurations as they are; raises ClusterError."""
        return Observed({kind: self._read(kind) for kind in _RESOURCES})

    def write(self, observed: Observed, wanted: Sequence[dict[str, Any]], bundle: bytes | None, why: str) -> bool:
        """Bring entries and annotations to what is wanted, with this CA bundle; True if something had to be written.

        Labels, annotations and everything else of others stay. Raises ClusterError.
        """
        wrote = False
        for each in wanted:
            found = observed.found[each["kind"]]
            lines = differences(found, each)
            if not lines and (bundle is None or found is None or _trusting_exactly(found, bundle)):
                continue
            self._put(found, _replaced(found, each, self._name, bundle), lines or ["the CA bundle differs"], why)
            wrote = True
        return wrote

    def trust(self, observed: Observed, bundle: bytes) -> None:
        """Only bring the CA bundles of the entries that are there to this; raises ClusterError."""
        for kind, found in observed.found.items():
            if found and found.get("webhooks") and not _trusting_exactly(found, bundle):
                changed = {**found, "webhooks": [_trusting(entry, bundle) for entry in found["webhooks"]]}
                self._put(found, {**changed, "kind": kind}, ["the CA bundle differs"], "the authorities changed")

    def _put(self, found: dict[str, Any] | None, changed: dict[str, Any], lines: list[str], why: str) -> None:
        kind = changed["kind"]
        collection = f"/apis/admissionregistration.k8s.io/v1/{_RESOURCES[kind]}"
        if found is None:
            self._cluster.create(collection, changed)
        else:
            self._cluster.replace(f"{collection}/{self._name}", changed)
        self._metrics.writes.labels(kind).inc()
        self._log.event("configuration_written", configuration=f"{kind} {self._name}", why=why, changes=lines)

    def _read(self, kind: str) -> dict[str, Any] | None:
        try:
            return self._cluster.get(f"/apis/admissionregistration.k8s.io/v1/{_RESOURCES[kind]}/{self._name}")
        except NotFound:
            return None


def _replaced(found: dict[str, Any] | None, wanted: dict[str, Any], name: str, bundle: bytes | None) -> dict[str, Any]:
    meta = (found or {}).get("metadata") or {}
    merged_meta = {**meta, "name": name}
    for key in ("labels", "annotations"):
        if own := wanted["metadata"].get(key):
            merged_meta[key] = {**(meta.get(key) or {}), **own}
    entries = wanted.get("webhooks") or []
    if bundle is not None:
        entries = [_trusting(entry, bundle) for entry in entries]
    return {**(found or {}), **wanted, "metadata": merged_meta, "webhooks": entries}


def _trusting(entry: dict[str, Any], bundle: bytes) -> dict[str, Any]:
    return {**entry, "clientConfig": {**entry["clientConfig"], "caBundle": b64encode(bundle).decode("ascii")}}


def _trusting_exactly(configuration: dict[str, Any], bundle: bytes) -> bool:
    # However somebody else wrote it, with comments or in another order of lines.
    wanted = merged(bundle)
    return all(merged(each) == wanted for each in bundles(configuration))
