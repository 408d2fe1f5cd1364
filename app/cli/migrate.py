"""`gpugate migrate`: Kyverno policies to a GpuPolicy."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, get_args

import click

from app.cli.migrate_report import FORMATS, rendered
from app.cli.options import cluster_options
from app.cli.outputs import Output, check_outputs, output_option
from app.documents import Document, read
from app.documents.dump import dump
from app.kyverno.policy import KINDS
from app.migrate.migrate import migrate
from app.policy.compiled import Mode
from app.sources.manifests import Manifests, Unreadable
from app.sources.policies import shipped_policy

_GROUPS: Final = ("kyverno.io/", "policies.kyverno.io/")
_LISTS: Final = ("/apis/kyverno.io/v1/clusterpolicies", "/apis/kyverno.io/v1/policies")
# What the API server adds to an object.
_STORED: Final = ("managedFields", "resourceVersion", "uid", "creationTimestamp", "generation", "selfLink")
_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_INCOMPLETE: Final = 1


@click.command(short_help="Turn Kyverno policies into a GpuPolicy.")
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path())
@click.option("--from-cluster", is_flag=True, help="Read the ClusterPolicies and Policies of a cluster.")
@cluster_options
@output_option(FORMATS)
@click.option(
    "--mode",
    type=click.Choice(get_args(Mode)),
    help="Mode of namespaces without one of their own.  [default: what the policies do, audit or enforce]",
)
@click.option(
    "--originals",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write the policies that were read to this file too, as `gpugate serve` takes them.",
)
def command(
    files: tuple[str, ...],
    from_cluster: bool,
    context: str | None,
    kubeconfig: str | None,
    outputs: tuple[Output, ...],
    mode: Mode | None,
    originals: str | None,
) -> int:
    """Turn Kyverno policies into the GpuPolicy that says the same, and tell of each rule whether it is the same, better
    (where the original misses a violation, or refuses what is right), different, or not taken, with the reason.

    Original and result judge the same pods to find that out. yaml is the GpuPolicy with the table above it as comments,
    text the table alone. Nothing in a cluster is changed.

    Exits 0 if every rule is the same or better, 1 if one is different or not taken, 2 if something cannot be read.

    \b
    Examples:
      gpugate migrate kyverno/gpu-policy.yaml > gpugate.yaml
      gpugate migrate --from-cluster -o text -o yaml=gpugate.yaml --originals kyverno.yaml
    """
    if bool(files) == from_cluster:
        raise click.UsageError(
            "give files, or --from-cluster" if not files else "files and --from-cluster are two ways"
        )
    outputs = outputs or (Output(FORMATS[0], None),)
    check_outputs(outputs)
    policies = list(_of_cluster(context, kubeconfig) if from_cluster else _of_files(files))
    if not policies:
        where = "the cluster" if from_cluster else ", ".join(files)
        raise click.ClickException(f"there is no {' or '.join(KINDS)} of Kyverno in {where}")
    migration = migrate(policies, _shipped(), mode)
    for output in outputs:
        _write(output.file, rendered(migration, output.format))
    if originals is not None:
        _write(originals, "---\n".join(map(dump, policies)))
    return _INCOMPLETE if any(row.verdict in ("different", "not taken") for row in migration.rows) else 0


def _of_files(files: Iterable[str]) -> Iterator[dict[str, Any]]:
    for found in Manifests(files):
        if isinstance(found, Unreadable):
            raise click.ClickException(f"{found.name} {found.reason}")
        for document in read(found.content, found.name):
            if not isinstance(document, Document):
                raise click.ClickException(f"{document.name}:{document.line}:{document.column}: {document.message}")
            if str(document.value.get("apiVersion", "")).startswith(_GROUPS):
                yield document.value


def _of_cluster(context: str | None, kubeconfig: str | None) -> Iterator[dict[str, Any]]:
    from app.cluster.client import Cluster
    from app.cluster.errors import ClusterError, NotFound

    try:
        cluster = Cluster.connect(context=context, kubeconfig=kubeconfig)
        for path in _LISTS:
            try:
                for page in cluster.pages(path):
                    yield from map(_as_written, page)
            except NotFound as error:
                said = f"there are no policies of Kyverno in {cluster.where}: its API server does not know the kind"
                raise click.ClickException(said) from error
    except ClusterError as error:
        raise click.ClickException(str(error)) from error


def _as_written(policy: dict[str, Any]) -> dict[str, Any]:
    """The policy without what the cluster has added to it."""
    metadata = {key: value for key, value in policy.get("metadata", {}).items() if key not in _STORED}
    annotations = {key: value for key, value in metadata.pop("annotations", {}).items() if key != _APPLIED}
    if annotations:
        metadata["annotations"] = annotations
    return {
        "apiVersion": policy["apiVersion"],
        "kind": policy["kind"],
        "metadata": metadata,
        "spec": policy.get("spec"),
    }


def _shipped() -> dict[str, Any]:
    file = shipped_policy()
    document = next(iter(read(file.read_bytes(), file.name)))
    assert isinstance(document, Document), "the file is ours"
    value: dict[str, Any] = document.value
    return value


def _write(file: str | None, text: str) -> None:
    if file is None:
        click.echo(text, nl=False)
        return
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{file} cannot be written: {error.strerror or error}") from error
