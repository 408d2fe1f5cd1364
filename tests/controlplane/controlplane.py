"""Starting, using and stopping a control plane."""

from __future__ import annotations

import hashlib
import json
import ssl
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from . import components
from .audit import read_events
from .build import programs_directory
from .certificates import Authority, write_once
from .client import Client
from .components import Layout, Ports
from .processes import Processes, StartError, environment, free_ports
from .waiting import wait_for

_START_SECONDS = 60.0
_GRACE_SECONDS = 3.0
_ADMIN = ("gpugate-test-admin", ("system:masters",))
_NODE_CAPACITY = {"cpu": "64", "memory": "512Gi", "pods": "250", "ephemeral-storage": "1Ti"}


class ControlPlane:
    """A control plane in a directory.

    The process that calls start owns its programs and calls stop; others use it with attach. Start it from a
    thread that lasts, such as the main thread: the kernel kills the programs when that thread ends.
    """

    def __init__(self, directory: Path) -> None:
        self._layout = Layout(directory.resolve())
        self._processes = Processes(self._layout.directory)
        self._port = 0
        self._programs = Path()
        self._clients: dict[Path, Client] = {}

    @classmethod
    def attach(cls, directory: Path) -> Self:
        """The control plane that another process started there. Its stop only closes connections."""
        plane = cls(directory)
        state = json.loads(plane._layout.state.read_bytes())
        plane._port, plane._programs = state["port"], Path(state["programs"])
        return plane

    def start(self) -> Self:
        """Returns when everything is ready to use; builds the programs if they are not in the cache."""
        self._programs = programs_directory()
        self._layout.directory.mkdir(parents=True, exist_ok=True)
        components.prepare(self._layout)
        ports = Ports(*free_ports(5))
        self._port = ports.apiserver
        try:
            self._start_programs(ports)
        except BaseException:
            self.stop()
            raise
        state = {"port": self._port, "programs": str(self._programs)}
        write_once(self._layout.state, json.dumps(state).encode())
        return self

    def stop(self) -> None:
        """Ends the programs that this object started, and closes its clients' connections."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()
        # etcd last: the others wait for it while they end.
        self._processes.stop([name for name in self._processes.names() if name != "etcd"], _GRACE_SECONDS)
        self._processes.stop(["etcd"], _GRACE_SECONDS)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def programs(self) -> Path:
        """The folder with kubectl and the others."""
        return self._programs

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._port}"

    @property
    def audit_log(self) -> Path:
        return self._layout.audit_log

    @property
    def certificate_authority(self) -> Path:
        """The certificate, in PEM, that the API server's is signed by."""
        return self._layout.pki / "ca.crt"

    @property
    def kubeconfig(self) -> Path:
        """Of an administrator: a member of system:masters, whom RBAC refuses nothing."""
        return self.kubeconfig_for(*_ADMIN)

    def kubeconfig_for(self, user: str, groups: Sequence[str] = ()) -> Path:
        """A kubeconfig of any user, who has the rights that RBAC gives to the name and the groups."""
        identity = json.dumps([user, *groups]).encode()
        name = hashlib.sha256(identity).hexdigest()[:16]
        path = self._layout.kubeconfigs / f"{name}.kubeconfig"
        if not path.exists():
            credentials = path.with_suffix(".pem")
            write_once(credentials, b"".join(Authority(self._layout.pki).issue_client(user, groups)))
            write_once(path, json.dumps(self._kubeconfig(user, credentials)).encode())
        return path

    def client(self, user: str | None = None, groups: Sequence[str] = ()) -> Client:
        """A REST client of the administrator, or of the user when one is named."""
        kubeconfig = self.kubeconfig if user is None else self.kubeconfig_for(user, groups)
        if kubeconfig not in self._clients:
            context = ssl.create_default_context(cafile=str(self.certificate_authority))
            context.load_cert_chain(kubeconfig.with_suffix(".pem"))
            self._clients[kubeconfig] = Client("127.0.0.1", self._port, context)
        return self._clients[kubeconfig]

    def kubectl(
        self,
        *args: str,
        input: str | None = None,
        kubeconfig: Path | None = None,
        check: bool = True,
        timeout: float = 60.0,
    ) -> subprocess.CompletedProcess[str]:
        """Runs the real kubectl, as the administrator unless another kubeconfig is given."""
        command = [str(self._programs / "kubectl"), f"--kubeconfig={kubeconfig or self.kubeconfig}", *args]
        result = subprocess.run(
            command,
            input=input if input is not None else "",
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            env=environment(self._layout.directory),
        )
        if check and result.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(args)}: exit code {result.returncode}\n{result.stderr}")
        return result

    def audit_events(
        self,
        namespace: str | None = None,
        resource: str | None = None,
        name: str | None = None,
        verb: str | None = None,
    ) -> list[dict[str, Any]]:
        """The audit events of finished writes, oldest first.

        An event is logged just after its request is answered: use wait_for.
        """
        return read_events(self.audit_log, namespace=namespace, resource=resource, name=name, verb=verb)

    def metrics(self) -> str:
        """The API server's metrics, in the Prometheus text format."""
        status, content, _ = self.client().raw("GET", "/metrics")
        if status != 200:
            raise AssertionError(f"the API server answered {status} to /metrics")
        return content.decode()

    def namespace(self, prefix: str = "test", labels: Mapping[str, str] | None = None) -> str:
        """Makes a namespace of a new name, in which pods can be created at once."""
        # Not by generateName: the audit log has no name of what is created that way.
        name = f"{prefix}-{uuid.uuid4().hex[:10]}"
        metadata = {"name": name, "labels": dict(labels or {})}
        self.client().post("/api/v1/namespaces", {"metadata": metadata}).expect(201)
        self._wait_for_service_account(name)
        return name

    def add_node(
        self,
        name: str,
        labels: Mapping[str, str] | None = None,
        taints: Sequence[Mapping[str, str]] = (),
        capacity: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Makes a node that the scheduler binds pods to. They stay Pending, since no kubelet runs them."""
        api = self.client()
        node = {
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
            "spec": {"taints": [dict(taint) for taint in taints]},
        }
        api.post("/api/v1/nodes", node).expect(201)
        resources = {**_NODE_CAPACITY, **(capacity or {})}
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        ready = {
            "type": "Ready",
            "status": "True",
            "reason": "KubeletReady",
            "message": "no kubelet: a test's node",
        }
        ready |= {"lastHeartbeatTime": now, "lastTransitionTime": now}
        status = {"capacity": resources, "allocatable": resources, "conditions": [ready]}
        api.patch(f"/api/v1/nodes/{name}/status", {"status": status}).expect(200)

        def schedulable() -> dict[str, Any] | None:
            """The API server taints a new node as not ready; the controller-manager takes that away."""
            current = api.get(f"/api/v1/nodes/{name}").expect(200)
            keys = [taint["key"] for taint in current["spec"].get("taints", [])]
            return None if "node.kubernetes.io/not-ready" in keys else current

        return wait_for(schedulable, message=f"node {name} without its not-ready taint")

    wait_for = staticmethod(wait_for)

    def _start_programs(self, ports: Ports) -> None:
        layout, processes, programs = self._layout, self._processes, self._programs
        processes.start(programs / "etcd", components.etcd(layout, ports))
        # The API server waits for etcd by itself.
        processes.start(programs / "kube-apiserver", components.apiserver(layout, ports))
        self._wait_until_ready("kube-apiserver", ports.apiserver)
        for program, arguments in (
            ("kube-scheduler", components.scheduler),
            ("kube-controller-manager", components.controller_manager),
        ):
            kubeconfig = self.kubeconfig_for(f"system:{program}")
            processes.start(programs / program, arguments(layout, ports, kubeconfig))
        self._wait_until_ready("kube-scheduler", ports.scheduler)
        self._wait_until_ready("kube-controller-manager", ports.controller_manager)
        self._wait_for_service_account("default")

    def _wait_until_ready(self, program: str, port: int) -> None:
        context = ssl.create_default_context(cafile=str(self.certificate_authority))
        # The controller-manager answers no other path; to the others it is the same.
        probe = Client("127.0.0.1", port, context, timeout=5.0)

        def ready() -> bool:
            self._processes.check()
            try:
                return probe.raw("GET", "/healthz")[0] == 200
            except OSError:
                return False

        try:
            wait_for(ready, _START_SECONDS, f"{program} ready")
        except AssertionError as error:
            raise StartError(f"{error}\n{self._processes.tails()}") from None
        finally:
            probe.close()

    def _wait_for_service_account(self, namespace: str) -> None:
        """Pods are refused until the controller-manager has made the namespace's default ServiceAccount."""
        api = self.client()
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/default"
        wait_for(lambda: api.get(path).status == 200, message=f"ServiceAccount default in namespace {namespace}")

    def _kubeconfig(self, user: str, credentials: Path) -> dict[str, Any]:
        cluster = {"server": self.url, "certificate-authority": str(self.certificate_authority)}
        # One file holds both, so that certificate and key always belong together.
        identity = {"client-certificate": str(credentials), "client-key": str(credentials)}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": user, "user": identity}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": user}}],
            "current-context": "test",
        }
