"""What `gpugate manifests --install` and `--uninstall` are told about an installation."""

import re
from pathlib import Path
from typing import Final, NamedTuple

import click

from app.manifests.client import Service
from app.manifests.install.settings import IMAGE, Certificates, Installation
from app.sources.policies import SUFFIXES, policy_files

_KEY: Final = re.compile(r"[-._a-zA-Z0-9]{1,253}")


class Wanted(NamedTuple):
    """The options that only an installation has, as they were given."""

    image: str | None
    certificates: Certificates | None
    no_keeper: bool
    gitops: bool
    ha: bool
    reports: bool

    def first(self) -> str | None:
        """The first that was given."""
        return next((f"--{name.replace('_', '-')}" for name, value in self._asdict().items() if value), None)

    def check(self, *, ca_file: bool, scope: bool) -> None:
        """Raise click.UsageError for options that contradict each other."""
        certificates = self.certificates or "keeper"
        if self.no_keeper and self.gitops:
            raise click.UsageError("--gitops says what the keeper leaves alone, and --no-keeper that there is none")
        if self.no_keeper and certificates == "keeper":
            raise click.UsageError("--no-keeper: say who makes the certificate, --certificates cert-manager|secret")
        if ca_file and not (self.no_keeper and certificates == "secret"):
            who = "cert-manager" if self.no_keeper else "the keeper"
            raise click.UsageError(f"--ca-file is not needed: {who} writes it into the webhook configurations")
        if scope and not (self.no_keeper or self.gitops):
            raise click.UsageError("--scope is not needed: the keeper writes the webhook configurations")


def installation(service: Service, policy_path: str, wanted: Wanted) -> Installation:
    """The installation of a policy; raises click.ClickException if a file's name can be no key of a ConfigMap."""
    return Installation(
        service,
        _files(policy_path),
        wanted.image or IMAGE,
        wanted.certificates or "keeper",
        keeper=not wanted.no_keeper,
        gitops=wanted.gitops,
        ha=wanted.ha,
        reports=wanted.reports,
    )


def _files(path: str) -> dict[str, str]:
    found = {}
    for name, content in policy_files(path):
        key = Path(name).name
        # In a folder, the server reads files by their suffix.
        key = key if key.endswith(SUFFIXES) else f"{key}.yaml"
        if not _KEY.fullmatch(key):
            raise click.ClickException(f"{name}: a key of a ConfigMap has no other characters than A-Z a-z 0-9 - _ .")
        found[key] = content.decode()
    return found
