"""Where the board's snapshots come from: a cluster, looked at anew for each, or a file."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from app.policy.errors import PolicyError
from app.report.snapshot import InvalidSnapshot, Snapshot
from app.server.board.snapshots import Make, SnapshotFailed
from app.sources.policies import read_policy

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


def of_cluster(policy_path: str, context: str | None, kubeconfig: str | None, namespace: str | None) -> Make:
    """Reads policy and kubeconfig again for each: who mends a policy wants to see what it says now."""
    from app.cluster.client import Cluster
    from app.cluster.errors import ClusterError
    from app.cluster.scan import Scan

    def make() -> Snapshot:
        now = datetime.now(UTC)
        try:
            policy = read_policy(policy_path)
            cluster = Cluster.connect(context=context, kubeconfig=kubeconfig)
            scan = Scan(cluster, policy, now.date(), namespace=namespace)
            for _ in scan.objects():
                pass  # the scan itself keeps what a snapshot needs
        except PolicyError as error:
            problems = "; ".join(map(str, error.problems))
            raise SnapshotFailed(f"the policy cannot be used: {problems}") from error
        except ClusterError as error:
            raise SnapshotFailed(str(error)) from error
        return scan.snapshot(now)

    return make


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
