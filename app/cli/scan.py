"""`gpugate scan`: the verdicts over what is in a cluster."""

import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, get_args

import click

from app.admission.review import printable
from app.cli.looking import connect, progress
from app.cli.options import cluster_options, load_policy, policy_option
from app.cli.outputs import Output, check_outputs, open_report, output_option, wants_color
from app.cli.reporting import Reporting
from app.cluster.client import Cluster
from app.cluster.errors import ClusterError
from app.cluster.reports import write_reports
from app.cluster.scan import Scan
from app.policy.compiled import Mode
from app.report.formats import FORMATS
from app.report.results import FailOn, Style, Summary
from app.report.snapshot import Snapshot

_OWN_MODES: Final = "policy"
_SNAPSHOT: Final = "snapshot"
_FORMATS: Final = (*FORMATS, _SNAPSHOT)
_VIOLATIONS: Final = 1
_ERRORS: Final = 2


@click.command(short_help="Judge what is in a cluster.")
@policy_option
@cluster_options
@click.option("-n", "--namespace", metavar="NS", help="Only this namespace.  [default: all]")
@click.option(
    "--mode",
    type=click.Choice([*get_args(Mode), _OWN_MODES]),
    default=_OWN_MODES,
    show_default=True,
    help=f'Answer as this mode does. "{_OWN_MODES}": each namespace by its own, pinned, by its label or by default.',
)
@output_option(_FORMATS)
@click.option(
    "--fail-on",
    type=click.Choice(["deny", "warn", "change", "none"]),
    default="deny",
    show_default=True,
    help="Exit 1 if a pod would be refused; also for a warning; also for a change; never.",
)
@click.option(
    "--report", is_flag=True, help="Write a report into each namespace with findings, as enforce would have them."
)
@click.option("-q", "--quiet", is_flag=True, help="Only violations and warnings.")
@click.option("-v", "--verbose", is_flag=True, help="Also notes, and workloads without a finding.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
def command(
    policy_path: str | None,
    context: str | None,
    kubeconfig: str | None,
    namespace: str | None,
    mode: str,
    outputs: tuple[Output, ...],
    fail_on: FailOn,
    report: bool,
    quiet: bool,
    verbose: bool,
    color: str,
) -> int:
    """Judge what is in a cluster, as the webhook would if it came anew: every workload by its template, and every pod
    that no known workload has made. Nothing is changed but reports, with --report.

    What has finished and what is being deleted is left out. Exits 0 if nothing is wrong, 1 for violations, 2 if
    something could not be read; then what could be read is judged all the same.

    \b
    Examples:
      gpugate scan --policy gpugate.yaml
      gpugate scan --policy gpugate.yaml --mode enforce -n team-a
      gpugate scan --context prod -o text -o snapshot=prod.json
      gpugate scan --policy gpugate.yaml --report --fail-on none
    """
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose contradict each other")
    outputs = outputs or (Output(FORMATS[0], None),)
    check_outputs(outputs)
    policy = load_policy(policy_path)
    style = Style(wants_color(color), quiet, verbose, fail_on)
    cluster = connect(context, kubeconfig)
    now = datetime.now(UTC)
    only = None if mode == _OWN_MODES else mode
    chosen = (namespace,) if namespace else ()
    scan = Scan(cluster, policy, now.date(), namespaces=chosen, mode=only, tick=progress(shown=not quiet))  # type: ignore[arg-type]
    with ExitStack() as files:
        written = [output for output in outputs if output.format != _SNAPSHOT]
        reports = [files.enter_context(open_report(output, policy, style)) for output in written]
        run = Reporting(reports, fail_on, Summary(nouns=("pod template", "namespace")))
        lost = _judge(scan, run)
    snapshot = scan.snapshot(now)
    for output in outputs:
        if output.format == _SNAPSHOT:
            _write(output, snapshot)
    if report and not lost:
        _report(cluster, snapshot, namespace, run)
    if run.summary.errors:
        return _ERRORS
    return _VIOLATIONS if run.failed else 0


def _judge(scan: Scan, run: Reporting) -> bool:
    """Report everything; true if the cluster was lost on the way."""
    lost = False
    try:
        for found in scan.objects():
            run.take(found)
    except ClusterError as error:
        run.take(scan.failure("cluster", str(error)))
        lost = True
    run.summary.files = scan.progress.namespaces
    run.finish()
    return lost


def _report(cluster: Cluster, snapshot: Snapshot, namespace: str | None, run: Reporting) -> None:
    try:
        written = write_reports(cluster, snapshot, namespace)
    except ClusterError as error:
        raise click.ClickException(str(error)) from error
    for each in written.errors:
        run.summary.errors += 1
        click.echo(f"Error: {printable(f'report in {each.where}: {each.message}')}", err=True)
    counts = ("created", "updated", "unchanged", "deleted")
    click.echo(f"Reports: {', '.join(f'{getattr(written, each)} {each}' for each in counts)}.", err=True)


def _write(output: Output, snapshot: Snapshot) -> None:
    content = snapshot.to_json()
    if output.file is None:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        Path(output.file).write_bytes(content)
    except OSError as error:
        raise click.ClickException(f"{output.file} cannot be written: {error.strerror or error}") from error
