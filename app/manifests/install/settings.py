"""What differs between one installation and another, and the names that are the same in all."""

from dataclasses import dataclass, field
from typing import Final, Literal

from app import __version__
from app.manifests.client import Service

Certificates = Literal["keeper", "cert-manager", "secret"]
"""Who makes the server's certificate: the keeper, cert-manager, or somebody who writes the Secret."""

WEBHOOK_PORT: Final = 10250
"""Control planes of managed clusters reach nodes and pods on it; other ports need a firewall rule there."""
METRICS_PORT: Final = 8080

USER: Final = 65532
"""The user and group of the image, by number, so that the kubelet can tell that it is not root."""

POLICY_FOLDER: Final = "/etc/gpugate/policy"
CERTIFICATE_FOLDER: Final = "/etc/gpugate/certs"
FACTS_FOLDER: Final = "/etc/gpugate/facts"

IMAGE: Final = f"registry.example.com/gpugate:{__version__}"
"""Nobody's: the image is built from the Dockerfile and pushed to a registry of one's own."""


@dataclass(frozen=True, slots=True)
class Installation:
    """One installation. ``files`` are the policy's by name.

    Without the ``keeper`` the webhook configurations are written out here, and somebody else makes the certificates.
    With ``gitops`` they are written out too, and the keeper only keeps their CA bundle and reports drift.
    ``ha`` adds autoscaling, a second keeper and hard spreading over nodes; ``reports`` the CronJob that writes reports.
    """

    service: Service
    files: dict[str, str] = field(default_factory=dict)
    image: str = IMAGE
    certificates: Certificates = "keeper"
    keeper: bool = True
    gitops: bool = False
    ha: bool = False
    reports: bool = False

    @property
    def namespace(self) -> str:
        """Of everything that has one."""
        return self.service.namespace

    @property
    def filled(self) -> bool:
        """True if the keeper writes the entries of the webhook configurations."""
        return self.keeper and not self.gitops

    @property
    def name(self) -> str:
        """Of the server's Service and Deployment."""
        return self.service.name
