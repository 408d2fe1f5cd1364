"""Where the board's snapshots come from: a cluster, looked at anew for each, or a file."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from app.cli.looking import connect
from app.cli.options import load_policy
from app.cluster.client import Cluster
from app.cluster.errors import ClusterError
from app.cluster.scan import Scan
from app.policy.compiled import Policy
from app.report.snapshot import InvalidSnapshot, Snapshot
from app.server.board.snapshots import Make, SnapshotFailed

STDIN: Final = "-"


def of_file(file: str) -> Make:
    """Reads the file again for each; standard input, which can be read only once, stays as it was."""
    if file == STDIN:
        content = sys.stdin.buffer.read()
        return lambda: _parsed(content, "standard input")

    def make() -> Snapshot:
        try:
            return _parsed(Path(file).read_bytes(), file)
        except OSError as error:
            raise SnapshotFailed(f"{file} cannot be read: {error.strerror or error}") from error

    return make


class ClusterSnapshots:
    """Reads policy and kubeconfig again for each: who mends a policy wants to see what it says now."""

    def __init__(self, policy_path: str, context: str | None, kubeconfig: str | None, namespace: str | None) -> None:
        self._policy_path = policy_path
        self._context = context
        self._kubeconfig = kubeconfig
        self._namespaces = (namespace,) if namespace else ()

    def policy(self) -> Policy:
        """The policy, as it is now; raises click.ClickException."""
        return load_policy(self._policy_path)

    def cluster(self) -> Cluster:
        """The cluster; raises click.ClickException."""
        return connect(self._context, self._kubeconfig)

    def __call__(self) -> Snapshot:
        """Scan; raises SnapshotFailed."""
        now = datetime.now(UTC)
        try:
            policy, cluster = self.policy(), self.cluster()
            scan = Scan(cluster, policy, now.date(), namespaces=self._namespaces)
            for _ in scan.objects():
                pass  # the scan itself keeps what a snapshot needs
        except click.ClickException as error:
            raise SnapshotFailed(in_a_line(error)) from error
        except ClusterError as error:
            raise SnapshotFailed(str(error)) from error
        return scan.snapshot(now)


def in_a_line(error: click.ClickException) -> str:
    """The message of an error: what went wrong, and if it has a list of problems, those after it."""
    head, *problems = error.message.splitlines()
    return f"{head} {'; '.join(problems)}" if problems else head


def first_of(make: Make) -> Snapshot:
    """The snapshot that the board begins with; raises click.ClickException."""
    try:
        return make()
    except SnapshotFailed as error:
        raise click.ClickException(str(error)) from error


def _parsed(content: bytes, name: str) -> Snapshot:
    try:
        return Snapshot.from_json(content)
    except InvalidSnapshot as error:
        raise SnapshotFailed(f"{name} is no snapshot of gpugate scan: {error}") from error
