"""`gpugate check`: the verdict that a cluster would give on manifests."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from time import monotonic
from typing import Any, Final, NamedTuple, get_args

import click

from app.admission.review import printable
from app.cli.options import load_policy, policy_option
from app.model.context import UNKNOWN_CLUSTER, ClusterFacts
from app.policy.compiled import Mode, Policy
from app.report.formats import FORMATS, Report, new_report
from app.report.judging import Judging, facts_among, judged_objects, kinds_of
from app.report.results import InputError, JudgedObject, Style, Summary
from app.sources.facts import InvalidFacts, parse_facts
from app.sources.manifests import Manifest, Manifests

_OWN_MODES: Final = "policy"
_VIOLATIONS: Final = 1
_ERRORS: Final = 2
_PROGRESS_EVERY: Final = 1.0  # seconds


class _Output(NamedTuple):
    """A format, and the file that it goes to; None is standard output."""

    format: str
    file: str | None


class _OutputType(click.ParamType[_Output]):
    name = "FORMAT[=FILE]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> _Output:
        if isinstance(value, _Output):
            return value
        name, equals, file = str(value).partition("=")
        if name not in FORMATS:
            self.fail(f"there is no format {name!r}; the formats are {', '.join(FORMATS)}", param, ctx)
        if equals and not file:
            self.fail(f"{value!r} names no file after the =", param, ctx)
        return _Output(name, file or None)


@click.command(short_help="Judge manifests as the cluster would.")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@policy_option
@click.option(
    "-o",
    "--output",
    "outputs",
    type=_OutputType(),
    multiple=True,
    help=f"Format of the result, and where it goes: {', '.join(FORMATS)}. May be given again. Default: {FORMATS[0]}.",
)
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
    outputs: tuple[_Output, ...],
    as_written: bool,
    mode: str,
    namespace: str,
    fail_on: str,
    fail_if_no_pods: bool,
    cluster_facts: str | None,
    quiet: bool,
    verbose: bool,
    color: str,
) -> int:
    """Judge manifests as the cluster would: files, folders (.yaml .yml .json), or - for standard input.

    Repairs and injections count as done and are shown. Exits 0 if nothing is wrong, 1 for violations, 2 if something
    could not be read; then what could be read is judged all the same.

    \b
    Examples:
      gpugate check --policy shipped deploy/
      helm template ./chart | gpugate check -n team-a -
      gpugate check -o text -o json=verdict.json --fail-on warn deploy/ jobs/train.yaml
    """
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose contradict each other")
    outputs = outputs or (_Output(FORMATS[0], None),)
    _check_outputs(outputs)
    judging = Judging(
        policy=load_policy(policy_path),
        facts=_read_facts(cluster_facts),
        today=date.today(),
        mode=None if mode == _OWN_MODES else mode,  # type: ignore[arg-type]
        namespace=namespace,
        as_written=as_written,
    )
    style = Style(_wants_color(color), quiet, verbose)
    with ExitStack() as files:
        reports = [files.enter_context(_open(output, judging.policy, style)) for output in outputs]
        run = _Run(reports, progress=not quiet and sys.stderr.isatty() and not sys.stdout.isatty())
        summary = run.judge(Manifests(paths), judging)
    if summary.errors:
        return _ERRORS
    if fail_if_no_pods and not summary.pods:
        click.echo("Error: no pod was found, and --fail-if-no-pods was given", err=True)
        return _VIOLATIONS
    return _VIOLATIONS if _failed(summary, fail_on) else 0


class _Run:
    """One run over the input: every object to every report, errors to standard error too."""

    def __init__(self, reports: list[Report], *, progress: bool) -> None:
        self._reports = reports
        self._summary = Summary()
        self._next_progress = monotonic() + _PROGRESS_EVERY if progress else None

    def judge(self, manifests: Manifests, judging: Judging) -> Summary:
        """Judge everything and report it, one object at a time."""
        known = ((each.name, each.content) for each in manifests if isinstance(each, Manifest))
        judging = replace(judging, facts=facts_among(known, judging))
        kinds = kinds_of(judging.policy)
        for each in manifests:
            if isinstance(each, Manifest):
                self._summary.files += 1
                for judged in judged_objects(each.name, each.content, judging, kinds):
                    self._take(judged)
            else:
                self._take(InputError(each.name, 1, 1, each.reason))
        for report in self._reports:
            report.finish(self._summary)
        return self._summary

    def _take(self, found: JudgedObject | InputError) -> None:
        if isinstance(found, InputError):
            self._summary.errors += 1
            click.echo(f"Error: {printable(str(found))}", err=True)
            for report in self._reports:
                report.error(found)
            return
        self._summary.count(found)
        for report in self._reports:
            report.object(found)
        if self._next_progress is not None and monotonic() >= self._next_progress:
            self._next_progress += _PROGRESS_EVERY
            click.echo(f"{self._summary.objects} objects in {self._summary.files} files ...", err=True)


def _check_outputs(outputs: tuple[_Output, ...]) -> None:
    files = [output.file for output in outputs]
    for file in files:
        if files.count(file) > 1:
            where = "standard output; add =FILE to all but one" if file is None else file
            raise click.UsageError(f"two results would go to {where}")


@contextmanager
def _open(output: _Output, policy: Policy, style: Style) -> Iterator[Report]:
    """The report of an output, written as UTF-8 whatever the locale says."""
    try:
        if output.file is None:
            stream = sys.stdout.buffer
            yield new_report(output.format, lambda text: stream.write(text.encode("utf-8", "replace")), policy, style)
            stream.flush()
        else:
            with Path(output.file).open("w", encoding="utf-8", errors="replace", newline="\n") as file:
                yield new_report(output.format, file.write, policy, style)
    except OSError as error:
        where = output.file or "standard output"
        raise click.ClickException(f"{where} cannot be written: {error.strerror or error}") from error


def _read_facts(path: str | None) -> ClusterFacts:
    if path is None:
        return UNKNOWN_CLUSTER
    try:
        return parse_facts(Path(path).read_bytes()).facts
    except OSError as error:
        raise click.ClickException(f"{path} cannot be read: {error.strerror or error}") from error
    except InvalidFacts as error:
        raise click.ClickException(f"{path} holds no cluster facts: {error}") from error


def _wants_color(choice: str) -> bool:
    """By default only a terminal gets colours, and only without NO_COLOR (https://no-color.org)."""
    if choice != "auto":
        return choice == "always"
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _failed(summary: Summary, fail_on: str) -> bool:
    worse = {"none": 0, "deny": summary.refused, "warn": summary.refused + summary.warned}
    worse["change"] = worse["warn"] + summary.changed
    return worse[fail_on] > 0
