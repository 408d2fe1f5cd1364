"""A real Kubernetes control plane for tests: etcd, API server, scheduler and controller-manager."""

from .build import ETCD_VERSION, KUBERNETES_VERSION, BuildError
from .client import Client, Response
from .controlplane import ControlPlane
from .processes import StartError
from .waiting import wait_for

__all__ = [
    "ETCD_VERSION",
    "KUBERNETES_VERSION",
    "BuildError",
    "Client",
    "ControlPlane",
    "Response",
    "StartError",
    "wait_for",
]
