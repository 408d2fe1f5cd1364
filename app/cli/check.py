"""`gpugate check`: the verdict that a cluster would give on manifests."""

import sys
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Final, get_args

import click

from app.admission.review import printable
from app.cli.options import load_policy, policy_option, read_facts
from app.cli.outputs import Output, check_outputs, open_report, output_option, wants_color
from app.cli.reporting import Reporting
from app.policy.compiled import Mode
from app.policy.kinds import kinds_of
from app.report.baseline import Baseline, InvalidBaseline, NewBaseline, parse_baseline
from app.report.formats import FORMATS, Report
from app.report.judging import Judging, facts_among, judged_objects
from app.report.results import FailOn, InputError, JudgedObject, Style, Summary
from app.report.source_text import SourceText
from app.sources.manifests import Manifest, Manifests
from app.sources.rendered import Chart
from app.sources.repository import Repository

_OWN_MODES: Final = "policy"
_VIOLATIONS: Final = 1
_ERRORS: Final = 2
_PROGRESS_EVERY: Final = 1.0  # seconds
_STALE_SHOWN: Final = 10


@click.command(short_help="Judge manifests as the cluster would.")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@policy_option
@click.option(
    "-k", "--kustomize", "kustomizations", multiple=True, metavar="DIR", help="Judge what kustomize or kubectl builds."
)
@click.option("--chart", metavar="DIR", help="Judge what helm renders of this chart.")
@click.option("--values", multiple=True, metavar="FILE", help="Values for --chart. May be given again.")
@click.option("--release", default="release-name", show_default=True, metavar="NAME", help="The release for --chart.")
@output_option(FORMATS)
@click.option(
    "--as-written",
    is_flag=True,
    help="Assume no repair and no injection: what would be repaired is a violation, what would be injected a note.",
)
@click.option(
    "--mode",
    type=click.Choice([*get_args(Mode), _OWN_MODES]),
    default="enforce",
    show_default=True,
    help=f'Answer as this mode does. "{_OWN_MODES}": as the policy has it for each namespace, pinned or by default.',
)
@click.option(
    "-n", "--namespace", default="default", show_default=True, metavar="NS", help="For objects that name no namespace."
)
@click.option(
    "--fail-on",
    type=click.Choice(["deny", "warn", "change", "none"]),
    default="deny",
    show_default=True,
    help="Exit 1 if a pod would be refused; also for a warning; also for a change; never.",
)
@click.option("--fail-if-no-pods", is_flag=True, help="Exit 1 if no pod was found.")
@click.option("--baseline", metavar="FILE", help="Findings that are known: they are no violations.")
@click.option("--write-baseline", metavar="FILE", help="Write what would exit 1 as known to FILE, and exit 0.")
@click.option(
    "--cluster-facts",
    metavar="FILE",
    help="What is known of the cluster, as JSON. RuntimeClasses of the input count too.",
)
@click.option("-q", "--quiet", is_flag=True, help="Only violations and warnings.")
@click.option("-v", "--verbose", is_flag=True, help="Also notes, and pods without a finding.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
def command(
    paths: tuple[str, ...],
    policy_path: str | None,
    kustomizations: tuple[str, ...],
    chart: str | None,
    values: tuple[str, ...],
    release: str,
    outputs: tuple[Output, ...],
    as_written: bool,
    mode: str,
    namespace: str,
    fail_on: FailOn,
    fail_if_no_pods: bool,
    baseline: str | None,
    write_baseline: str | None,
    cluster_facts: str | None,
    quiet: bool,
    verbose: bool,
    color: str,
) -> int:
    """Judge manifests as the cluster would: files, folders (.yaml .yml .json), or - for standard input; with -k what
    kustomize builds, with --chart what Helm renders.

    Repairs and injections count as done and are shown. Exits 0 if nothing is wrong, 1 for violations, 2 if something
    could not be read; then what could be read is judged all the same.

    \b
    Examples:
      gpugate check --policy shipped deploy/
      gpugate check -k overlays/production
      gpugate check --chart ./chart --values production.yaml -n team-a
      gpugate check -o text -o sarif=gpugate.sarif --baseline known.json deploy/ jobs/train.yaml
    """
    if not (paths or kustomizations or chart):
        raise click.UsageError("there is nothing to judge: give a PATH, -k DIR or --chart DIR")
    if values and chart is None:
        raise click.UsageError("--values are for --chart")
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose contradict each other")
    if write_baseline and fail_on == "none":
        raise click.UsageError("--fail-on none leaves nothing for --write-baseline")
    outputs = outputs or (Output(FORMATS[0], None),)
    check_outputs(outputs)
    charts = [Chart(chart, values, release, namespace)] if chart else []
    judging = Judging(
        policy=load_policy(policy_path),
        facts=read_facts(cluster_facts),
        today=datetime.now(UTC).date(),
        mode=None if mode == _OWN_MODES else mode,  # type: ignore[arg-type]
        namespace=namespace,
        as_written=as_written,
    )
    repository = Repository(".")
    style = Style(wants_color(color), quiet, verbose, fail_on, repository.path)
    known = _read_baseline(baseline, style) if baseline else None
    made = NewBaseline(fail_on, repository.path) if write_baseline else None
    with ExitStack() as files:
        reports = [files.enter_context(open_report(output, judging.policy, style)) for output in outputs]
        progress = not quiet and sys.stderr.isatty() and not sys.stdout.isatty()
        run = _Run(reports, fail_on, known, made, progress)
        summary = run.judge(Manifests(paths, kustomizations, charts), judging)
    if known:
        _report_stale(known, repository)
    if summary.errors:
        return _ERRORS
    if fail_if_no_pods and not summary.pods:
        click.echo("Error: no pod was found, and --fail-if-no-pods was given", err=True)
        return _VIOLATIONS
    if write_baseline and made:
        _write_baseline(write_baseline, made)
        return 0
    return _VIOLATIONS if run.failed else 0


class _Run:
    """One run over the input: every object to every report."""

    def __init__(
        self,
        reports: list[Report],
        fail_on: FailOn,
        known: Baseline | None,
        made: NewBaseline | None,
        progress: bool,
    ) -> None:
        self._reporting = Reporting(reports, fail_on, Summary())
        self._known = known
        self._made = made
        self._next_progress = monotonic() + _PROGRESS_EVERY if progress else None

    def judge(self, manifests: Manifests, judging: Judging) -> Summary:
        """Judge everything and report it, one object at a time."""
        contents = ((each.name, each.content) for each in manifests if isinstance(each, Manifest))
        judging = replace(judging, facts=facts_among(contents, judging))
        kinds = kinds_of(judging.policy)
        for each in manifests:
            if isinstance(each, Manifest):
                self._reporting.summary.files += 1
                source = SourceText(each.name, each.content, rendered=each.rendered, file=each.file, chart=each.chart)
                for found in judged_objects(source, each.content, judging, kinds):
                    self._take(found)
            else:
                self._take(InputError(each.name, 1, 1, each.reason))
        self._reporting.finish()
        return self._reporting.summary

    @property
    def failed(self) -> bool:
        """True if something was found that the run fails for."""
        return self._reporting.failed

    def _take(self, found: JudgedObject | InputError) -> None:
        if isinstance(found, JudgedObject):
            if self._made is not None:
                self._made.add(found)
            if self._known is not None:
                found = self._known.mark(found)
        self._reporting.take(found)
        if self._next_progress is not None and monotonic() >= self._next_progress:
            self._next_progress += _PROGRESS_EVERY
            summary = self._reporting.summary
            click.echo(f"{summary.objects} objects in {summary.files} files ...", err=True)


def _read_baseline(path: str, style: Style) -> Baseline:
    try:
        return Baseline(parse_baseline(Path(path).read_bytes()), style.path)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be read: {error.strerror or error}") from error
    except InvalidBaseline as error:
        raise click.ClickException(f"{path} is no baseline: {error}") from error


def _report_stale(known: Baseline, repository: Repository) -> None:
    """Say which entries of the baseline are mended: they would hide the same mistake when it is made again."""
    stale = known.stale(repository.exists)
    for entry in stale[:_STALE_SHOWN]:
        click.echo(f"Note: the baseline knows what is there no more: {printable(str(entry))}", err=True)
    if stale:
        more = f"and {len(stale) - _STALE_SHOWN} more; " if len(stale) > _STALE_SHOWN else ""
        click.echo(f"Note: {more}--write-baseline leaves out what is mended", err=True)


def _write_baseline(path: str, made: NewBaseline) -> None:
    try:
        Path(path).write_text(made.dump(), encoding="utf-8", newline="\n")
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror or error}") from error
    click.echo(f"Note: {path} holds {len(made)} findings that are known from now on", err=True)
