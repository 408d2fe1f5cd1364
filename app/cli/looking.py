"""Looking at a cluster for commands that speak of its namespaces."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Final

import click

from app.admission.review import printable
from app.cluster.client import Cluster
from app.cluster.errors import ClusterError
from app.cluster.scan import Progress, Scan
from app.policy.compiled import Policy
from app.report.results import InputError
from app.report.snapshot import InvalidSnapshot, Snapshot

_PROGRESS_EVERY: Final = 1.0  # seconds


def connect(context: str | None, kubeconfig: str | None) -> Cluster:
    """The cluster of the options; raises click.ClickException."""
    try:
        return Cluster.connect(context=context, kubeconfig=kubeconfig)
    except ClusterError as error:
        raise click.ClickException(str(error)) from error


def look(cluster: Cluster, policy: Policy, *namespaces: str) -> Snapshot:
    """What is in the cluster, or in these namespaces; what could not be read is said on standard error.

    Raises click.ClickException.
    """
    now = datetime.now(UTC)
    scan = Scan(cluster, policy, now.date(), namespaces=namespaces, tick=progress(shown=True))
    try:
        for found in scan.objects():
            if isinstance(found, InputError):
                click.echo(f"Error: {printable(str(found))}", err=True)
    except ClusterError as error:
        raise click.ClickException(str(error)) from error
    return scan.snapshot(now)


def read_snapshot(path: str) -> Snapshot:
    """The snapshot of a file; raises click.ClickException."""
    try:
        return Snapshot.from_json(Path(path).read_bytes())
    except OSError as error:
        raise click.ClickException(f"{path} cannot be read: {error.strerror or error}") from error
    except InvalidSnapshot as error:
        raise click.ClickException(f"{path} is no snapshot of gpugate scan: {error}") from error


class _Progress:
    """A line on standard error every second."""

    def __init__(self) -> None:
        self._next = monotonic() + _PROGRESS_EVERY

    def __call__(self, reached: Progress) -> None:
        if monotonic() >= self._next:
            self._next = monotonic() + _PROGRESS_EVERY
            click.echo(f"{reached.objects} objects in {reached.namespaces} namespaces ...", err=True)


def progress(*, shown: bool) -> _Progress | None:
    """Says how far a scan is, if that is to be shown and somebody looks who does not see the results themselves."""
    return _Progress() if shown and sys.stderr.isatty() and not sys.stdout.isatty() else None
