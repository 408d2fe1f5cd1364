"""What each program of the control plane is started with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from .certificates import Authority, service_account_key, write_once

# Reads, and what the control plane writes for itself all the time, would only make the log slow to search.
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "verbs": ["get", "list", "watch"]},
        {
            "level": "None",
            "resources": [
                {"group": "", "resources": ["events", "endpoints", "serviceaccounts/token"]},
                {"group": "coordination.k8s.io"},
                {"group": "discovery.k8s.io"},
                {"group": "events.k8s.io"},
                {"group": "authentication.k8s.io"},
                {"group": "authorization.k8s.io"},
            ],
        },
        # With what was sent, which gpugate replay reads.
        {"level": "Request", "resources": [{"group": "", "resources": ["pods", "pods/ephemeralcontainers"]}]},
        {"level": "Metadata"},
    ],
}


@dataclass(frozen=True)
class Layout:
    """Where a control plane's files are in its directory."""

    directory: Path

    @property
    def pki(self) -> Path:
        return self.directory / "pki"

    @property
    def audit_log(self) -> Path:
        return self.directory / "audit.jsonl"

    @property
    def audit_policy(self) -> Path:
        return self.directory / "audit-policy.json"

    @property
    def scheduler_configuration(self) -> Path:
        return self.directory / "scheduler.json"

    @property
    def state(self) -> Path:
        return self.directory / "state.json"

    @property
    def kubeconfigs(self) -> Path:
        return self.directory / "kubeconfigs"


@dataclass(frozen=True)
class Ports:
    apiserver: int
    scheduler: int
    controller_manager: int
    etcd: int
    etcd_peer: int


def prepare(layout: Layout) -> None:
    """Writes the certificates and files that the programs read."""
    authority = Authority(layout.pki)
    certificate, key = authority.issue_server()
    write_once(layout.pki / "server.crt", certificate)
    write_once(layout.pki / "server.key", key)
    write_once(layout.pki / "service-accounts.key", service_account_key())
    write_once(layout.audit_policy, json.dumps(AUDIT_POLICY).encode())
    layout.kubeconfigs.mkdir()


def etcd(layout: Layout, ports: Ports) -> list[str]:
    client, peer = f"http://127.0.0.1:{ports.etcd}", f"http://127.0.0.1:{ports.etcd_peer}"
    return [
        "--name=test",
        f"--data-dir={layout.directory / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=test={peer}",
        # Nothing has to survive a crash, and waiting for the disk would be most of each write.
        "--unsafe-no-fsync",
    ]


def apiserver(layout: Layout, ports: Ports) -> list[str]:
    key = layout.pki / "service-accounts.key"
    return [
        "--bind-address=127.0.0.1",
        # Otherwise looked up from the default route, which a machine without a network does not have.
        "--advertise-address=127.0.0.1",
        f"--secure-port={ports.apiserver}",
        *_serving(layout),
        f"--client-ca-file={layout.pki / 'ca.crt'}",
        f"--etcd-servers=http://127.0.0.1:{ports.etcd}",
        # It would publish the address above, and no Endpoints object may name loopback.
        "--endpoint-reconciler-type=none",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--authorization-mode=RBAC",
        "--allow-privileged=true",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        f"--audit-policy-file={layout.audit_policy}",
        f"--audit-log-path={layout.audit_log}",
        # One file for the whole run: rotation would hide events from the tests.
        "--audit-log-maxsize=10240",
    ]


def scheduler(layout: Layout, ports: Ports, kubeconfig: Path) -> list[str]:
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 1000, "burst": 1000},
        "leaderElection": {"leaderElect": False},
        # A pod that waits for a node that a test adds is tried again after a second, not after up to ten.
        "podInitialBackoffSeconds": 1,
        "podMaxBackoffSeconds": 1,
    }
    write_once(layout.scheduler_configuration, json.dumps(configuration).encode())
    return [
        f"--config={layout.scheduler_configuration}",
        "--bind-address=127.0.0.1",
        f"--secure-port={ports.scheduler}",
        *_serving(layout),
    ]


def controller_manager(layout: Layout, ports: Ports, kubeconfig: Path) -> list[str]:
    return [
        f"--kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        f"--secure-port={ports.controller_manager}",
        *_serving(layout),
        "--leader-elect=false",
        f"--root-ca-file={layout.pki / 'ca.crt'}",
        f"--service-account-private-key-file={layout.pki / 'service-accounts.key'}",
        # Nodes are only objects here: no kubelet renews them.
        "--node-monitor-grace-period=24h",
        "--kube-api-qps=1000",
        "--kube-api-burst=1000",
        # Each controller acts as its own ServiceAccount, as in clusters made by kubeadm: so a webhook is told
        # that system:serviceaccount:kube-system:replicaset-controller creates the pods of a Deployment.
        "--use-service-account-credentials=true",
    ]


def _serving(layout: Layout) -> list[str]:
    """The server's certificate for every program: else each makes itself an RSA key while it starts."""
    return [
        f"--tls-cert-file={layout.pki / 'server.crt'}",
        f"--tls-private-key-file={layout.pki / 'server.key'}",
    ]
