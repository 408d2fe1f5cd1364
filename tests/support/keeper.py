"""`gpugate keeper` in front of a real API server, with the rights of its installation and no others, and what a
kubelet does for the servers: project Secrets and ConfigMaps into folders."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import uuid
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any, Self

import httpx
import yaml

from app.cluster.client import Cluster
from app.cluster.keeper.keeper import Keeper
from app.cluster.keeper.log import Metrics
from app.cluster.keeper.settings import Settings
from app.manifests.client import Url
from app.manifests.keeper_names import (
    AUTHORITY_SECRET,
    CERTIFICATE_SECRET,
    CLUSTER_FACTS,
    KEEPER,
    POLICY,
    POLICY_SOURCE,
)
from app.manifests.keeper_rbac import keeper_rbac
from app.manifests.objects import empty_configurations
from tests.controlplane import ControlPlane, wait_for
from tests.controlplane.processes import free_ports
from tests.support.apiproxy import write_kubeconfig
from tests.support.cluster import KINDS
from tests.support.mounted import Mounted
from tests.support.server import Server

_ROOT = Path(__file__).resolve().parents[2]
_RUN = "from app.cli.main import run; run()"
_RESOURCES = {
    "ServiceAccount": "serviceaccounts",
    "Role": "roles",
    "RoleBinding": "rolebindings",
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
}
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"


def policy(
    namespace: str,
    presets: Sequence[str] = ("nvidia",),
    rules: Sequence[str] = ("no-privileged",),
    inject: Sequence[Mapping[str, Any]] = (),
) -> str:
    """A policy file for one namespace in `enforce`, and no other: keepers of several tests share a control plane."""
    document: dict[str, Any] = {
        "apiVersion": "gpugate.dev/v1alpha1",
        "kind": "GpuPolicy",
        "metadata": {"name": "p"},
        "spec": {
            "gpus": {"presets": list(presets)},
            "modes": {"default": "disabled", "labels": [], "namespaces": {namespace: "enforce"}},
            "rules": [{"rule": rule} for rule in rules],
        },
    }
    if inject:
        document["spec"]["inject"] = [dict(each) for each in inject]
    return yaml.safe_dump(document)


class Events:
    """A log that keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def event(self, event: str, level: str = "info", **fields: Any) -> None:
        self.lines.append({"event": event, "level": level, **fields})

    def of(self, event: str) -> list[dict[str, Any]]:
        """The lines of one event."""
        return [line for line in self.lines if line["event"] == event]


class Site:
    """A namespace for a keeper, with its ServiceAccount and rights, and configurations of its own name.

    Without ``create`` it is as in an installation (deploy/): the configurations are there, without entries, and the
    keeper may not make them.
    """

    def __init__(self, plane: ControlPlane, folder: Path, *, certificates: bool = True, create: bool = True) -> None:
        self.plane, self.api, self.folder = plane, plane.client(), folder
        self.name = f"keeper-{uuid.uuid4().hex[:8]}"
        self.namespace = plane.namespace("keeper")
        self.team = plane.namespace("team")
        self.port = free_ports(1)[0]
        self.url = f"https://127.0.0.1:{self.port}"
        self._made: list[str] = []
        for obj in keeper_rbac(
            self.namespace,
            certificates=certificates,
            create=create,
            configuration=self.name,
            cluster_role=self.name,
        ):
            self._make(obj)
        if not create:
            for obj in empty_configurations():
                self.write_configuration(obj)
        self.kubeconfig = self.kubeconfig_to(self.plane.url, "keeper.kubeconfig")

    def close(self) -> None:
        """Take away what is cluster-wide."""
        for kind in KINDS.values():
            self.api.delete(f"{_ADMISSION}/{kind}/{self.name}")
        for path in self._made:
            self.api.delete(path)

    def _make(self, obj: dict[str, Any]) -> None:
        resource = _RESOURCES[obj["kind"]]
        namespace = obj["metadata"].get("namespace")
        group = "/api/v1" if obj["apiVersion"] == "v1" else f"/apis/{obj['apiVersion']}"
        collection = f"{group}/namespaces/{namespace}/{resource}" if namespace else f"{group}/{resource}"
        self.api.post(collection, obj).expect(201)
        if not namespace:
            self._made.append(f"{collection}/{obj['metadata']['name']}")

    def kubeconfig_to(self, url: str, name: str) -> Path:
        """A kubeconfig of the keeper's ServiceAccount that leads to the API server by this URL."""
        path = f"/api/v1/namespaces/{self.namespace}/serviceaccounts/gpugate-keeper/token"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": []}}
        token = self.api.post(path, request).expect(201)["status"]["token"]
        cluster = {"server": url, "certificate-authority": str(self.plane.certificate_authority)}
        return write_kubeconfig(self.folder / name, cluster, {"token": token})

    # What there is.

    def path(self, kind: str, name: str) -> str:
        return f"/api/v1/namespaces/{self.namespace}/{kind}/{name}"

    def read(self, kind: str, name: str) -> dict[str, bytes] | None:
        """The data of a Secret (``secrets``) or ConfigMap (``configmaps``)."""
        found = self.api.get(self.path(kind, name))
        if found.status == 404:
            return None
        data: dict[str, str] = found.expect(200).get("data") or {}
        return {key: b64decode(value) if kind == "secrets" else value.encode() for key, value in data.items()}

    @property
    def authority(self) -> dict[str, bytes] | None:
        return self.read("secrets", AUTHORITY_SECRET)

    @property
    def certificate(self) -> dict[str, bytes] | None:
        return self.read("secrets", CERTIFICATE_SECRET)

    @property
    def served(self) -> dict[str, bytes] | None:
        return self.read("configmaps", POLICY)

    @property
    def facts(self) -> Any:
        data = self.read("configmaps", CLUSTER_FACTS)
        return None if data is None else json.loads(data["facts.json"])

    def write_policy(self, content: str) -> None:
        """What a person does with `kubectl apply`."""
        obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": POLICY_SOURCE}}
        body = {**obj, "data": {"policy.yaml": content}}
        if self.api.get(self.path("configmaps", POLICY_SOURCE)).status == 404:
            self.api.post(f"/api/v1/namespaces/{self.namespace}/configmaps", body).expect(201)
        else:
            self.api.patch(self.path("configmaps", POLICY_SOURCE), body).expect(200)

    def write_configuration(self, obj: dict[str, Any]) -> None:
        """What a person does with `kubectl apply` to a webhook configuration, here under the name of this site."""
        collection = f"{_ADMISSION}/{KINDS[obj['kind']]}"
        named = {**obj, "metadata": {**obj["metadata"], "name": self.name}}
        if self.api.get(f"{collection}/{self.name}").status == 404:
            self.api.post(collection, named).expect(201)
        else:
            self.api.patch(f"{collection}/{self.name}", named).expect(200)

    def withdraw(self, *resources: str, verbs: Sequence[str] = ()) -> Callable[[], None]:
        """Take the rights to these resources, or only these verbs, out of the keeper's roles; what is returned gives
        them back."""
        group = "/apis/rbac.authorization.k8s.io/v1"
        paths = (f"{group}/namespaces/{self.namespace}/roles/{KEEPER}", f"{group}/clusterroles/{self.name}")
        before = {path: self.api.get(path).expect(200)["rules"] for path in paths}
        for path, rules in before.items():
            left = [_without(rule, resources, verbs) for rule in rules]
            self.api.patch(path, {"rules": [each for each in left if each["resources"] and each["verbs"]]}).expect(200)

        def give_back() -> None:
            for path, rules in before.items():
                self.api.patch(path, {"rules": rules}).expect(200)

        return give_back

    def configurations(self) -> list[dict[str, Any]]:
        """Those that exist, the mutating one first."""
        found = [self.api.get(f"{_ADMISSION}/{kind}/{self.name}") for kind in KINDS.values()]
        return [each.body for each in found if each.status == 200]

    def entries(self) -> list[dict[str, Any]]:
        return [entry for each in self.configurations() for entry in each.get("webhooks") or []]

    def bundles(self) -> set[bytes]:
        """The CA bundles of all entries."""
        return {b64decode(each["clientConfig"].get("caBundle") or "") for each in self.entries()}

    def scopes(self) -> set[str]:
        """The last parts of the paths that are called."""
        return {each["clientConfig"]["url"].rpartition("/")[2] for each in self.entries()}

    # Who acts.

    def settings(self, **changes: Any) -> Settings:
        made: dict[str, Any] = {
            "namespace": self.namespace,
            "client": Url(self.url),
            "configuration": self.name,
            "interval": 0.1,
            "settle": 0.3,
            "handover": 60.0,
            **changes,
        }
        return Settings(**made)

    def keeper(
        self,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        kubeconfig: Path | None = None,
        clock: Callable[[], float] = monotonic,
        **changes: Any,
    ) -> Driven:
        """A keeper in this process, which looks when it is told to."""
        cluster = Cluster.connect(kubeconfig=str(kubeconfig or self.kubeconfig))
        events, metrics = Events(), Metrics()
        keeper = Keeper(cluster, self.settings(**changes), events, metrics, now=now, clock=clock)
        return Driven(keeper, events, metrics)

    @contextmanager
    def server(self, *extra: str) -> Iterator[Server]:
        """A server whose policy and certificates are projected as a kubelet would; a keeper must have made them."""
        certificates = wait_for(lambda: self.certificate, message="the Secret of the certificate")
        files = wait_for(lambda: self.served, message="the ConfigMap of the policy")
        folder = self.folder / f"server-{uuid.uuid4().hex[:8]}"
        mounts = {
            ("secrets", CERTIFICATE_SECRET): Mounted(folder / "certs", certificates),
            ("configmaps", POLICY): Mounted(folder / "policy", files),
        }
        options = ("--port", str(self.port), *extra)
        with (
            _projecting(self, mounts),
            Server(folder / "policy", cert_dir=folder / "certs", extra=options, drains=False) as server,
        ):
            yield server


def _without(rule: dict[str, Any], resources: Sequence[str], verbs: Sequence[str]) -> dict[str, Any]:
    """The rule of a role, without the resources, or for these only without the verbs."""
    if not set(resources) & set(rule["resources"]):
        return rule
    if verbs:
        return {**rule, "verbs": [verb for verb in rule["verbs"] if verb not in verbs]}
    return {**rule, "resources": [each for each in rule["resources"] if each not in resources]}


class Driven:
    """A keeper with what it said."""

    def __init__(self, keeper: Keeper, events: Events, metrics: Metrics) -> None:
        self.keeper, self.events, self.metrics = keeper, events, metrics

    def step(self) -> bool:
        return self.keeper.step()

    def until(self, done: Callable[[], Any], message: str = "") -> Any:
        """Look until something is so."""

        def after_a_look() -> Any:
            self.step()
            return done()

        try:
            return wait_for(after_a_look, message=message)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.events.lines[-8:]}") from None

    def metric(self, name: str, **labels: str) -> float | None:
        return self.metrics.registry.get_sample_value(name, labels)

    @contextmanager
    def running(self, interval: float = 0.1) -> Iterator[Self]:
        """Look again and again in a thread."""
        stop = threading.Event()

        def run() -> None:
            while not stop.wait(interval):
                self.step()

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield self
        finally:
            stop.set()
            thread.join()


@contextmanager
def _projecting(site: Site, mounts: Mapping[tuple[str, str], Mounted]) -> Iterator[None]:
    """Bring the folders in step with the cluster, a fraction of a second late."""
    stop = threading.Event()

    def run() -> None:
        written: dict[tuple[str, str], dict[str, bytes]] = {}
        while not stop.wait(0.1):
            for source, mounted in mounts.items():
                data = site.read(*source)
                if data and written.get(source) != data:
                    mounted.write(data)
                    written[source] = data

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


class KeeperProcess:
    """`gpugate keeper` as a process: ``with KeeperProcess(site) as keeper: ...``."""

    def __init__(self, site: Site, *extra: str, kubeconfig: Path | None = None) -> None:
        self._output = site.folder / f"keeper-{uuid.uuid4().hex[:8]}"
        self._command = [sys.executable, "-c", _RUN, "keeper", "--url", site.url, "--namespace", site.namespace]
        self._command += ["--configuration", site.name, "--kubeconfig", str(kubeconfig or site.kubeconfig)]
        self._command += ["--host", "127.0.0.1", "--metrics-port", "0", "--interval", "0.2", "--settle", "0.5"]
        self._command += extra
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        environment = {**os.environ, "PYTHONPATH": str(_ROOT), "PYTHONWARNINGS": "error"}
        with self._output.open("wb") as output, self._output.with_suffix(".err").open("wb") as errors:
            self.process = subprocess.Popen(
                self._command, stdout=output, stderr=errors, env=environment, start_new_session=True
            )
        line = wait_for(lambda: self.logs("listening") or self.process.poll(), message="the keeper to start")  # type: ignore[union-attr]
        assert isinstance(line, list), self.errors()
        self.url = f"http://127.0.0.1:{line[0]['metrics_port']}"
        return self

    def __exit__(self, *_: object) -> None:
        if self.process and self.process.poll() is None:
            self.stop()

    def stop(self) -> int:
        """SIGTERM; the exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.process.wait(20)
        self.process.kill()
        self.process.wait()
        raise AssertionError("the keeper did not stop")

    def get(self, path: str) -> httpx.Response:
        return httpx.get(f"{self.url}{path}", timeout=10)

    def logs(self, event: str | None = None) -> list[dict[str, Any]]:
        whole, _, _ = self._output.read_bytes().rpartition(b"\n")
        lines = [json.loads(line) for line in whole.splitlines()]
        return [line for line in lines if event in (None, line["event"])]

    def errors(self) -> str:
        return self._output.with_suffix(".err").read_text()

    def wait_for_log(self, event: str, count: int = 1) -> list[dict[str, Any]]:
        return wait_for(
            lambda: lines if len(lines := self.logs(event)) >= count else None,
            message=f"{count} times {event}: {self.logs()[-10:]}",
        )
