"""`gpugate test`: the tests of a policy."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from app.cli.outputs import Output, check_outputs, output_option, wants_color
from app.model.context import ClusterFacts
from app.policy.kinds import kinds_of
from app.sources.facts import parse_facts
from app.sources.policies import policy_files
from app.suite.case import Sources
from app.suite.coverage import share
from app.suite.discover import Discovery, matching
from app.suite.formats import FORMATS, Report, Style, new_report, totals
from app.suite.run import Runner

_FAILURES: Final = 1
_ERRORS: Final = 2


@click.command(short_help="Run the tests of a policy, also Kyverno's.")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path())
@click.option(
    "--policy",
    type=click.Path(),
    metavar="FILE|DIR",
    help="Policy for folders of fixtures that have no policy.yaml of their own or above them.",
)
@click.option(
    "--run",
    "patterns",
    metavar="PATTERN",
    multiple=True,
    help="Only cases whose SUITE/CASE holds this text, or matches it as a glob. May be given again.",
)
@output_option(FORMATS)
@click.option(
    "--coverage", is_flag=True, help="Show which outcomes of which rules the cases exercise, and which never."
)
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Exit 1 if fewer of the outcomes are exercised. Implies --coverage.",
)
@click.option("--update", is_flag=True, help="Rewrite goldens (x.expected.yaml) that differ.")
@click.option("-q", "--quiet", is_flag=True, help="Only what went wrong.")
@click.option("-v", "--verbose", is_flag=True, help="Also the cases that passed.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
def command(
    paths: tuple[str, ...],
    policy: str | None,
    patterns: tuple[str, ...],
    outputs: tuple[Output, ...],
    coverage: bool,
    fail_under: float | None,
    update: bool,
    quiet: bool,
    verbose: bool,
    color: str,
) -> int:
    """Run the tests of a policy: PolicyTest files, kyverno-test.yaml files, and folders of fixtures, below each PATH
    (default: the working folder).

    Exits 0 if every case passed, 1 if one failed, 2 if one could not be run or there is none at all. What Kyverno
    counts as passed although nothing was shown (a rule that there is not, a resource that the rule is not for) is
    "unproven": named with the reason, and no failure.

    \b
    Examples:
      gpugate test policies/
      gpugate test --coverage --fail-under 90 -o text -o junit=tests.xml policies/
      gpugate test --run no-privileged --update policies/tests
    """
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose contradict each other")
    outputs = outputs or (Output(FORMATS[0], None),)
    check_outputs(outputs)
    found = Discovery(paths or (".",), policy)
    if found.unused:
        number = "1 file" if len(found.unused) == 1 else f"{len(found.unused)} files"
        said = f"{number} in folders of fixtures without a policy.yaml not tested"
        click.echo(f"note: {said}, like {found.unused[0]}; --policy names one for them", err=True)
    suites = list(matching(found.suites, patterns))
    problems = tuple(found.problems)
    if not suites and not problems:
        what = f"no case matches {' or '.join(patterns)}" if found.suites else "there are no tests"
        raise click.ClickException(f"{what} in {', '.join(paths or ('.',))}")
    now = datetime.now(UTC)
    runner = Runner(_SOURCES, now.date(), update=update, now=now)
    with ExitStack() as files:
        style = Style(wants_color(color), quiet, verbose)
        reports = [files.enter_context(_open(output, style)) for output in outputs]
        results = []
        for result in runner.run(suites):
            results.append(result)
            for report in reports:
                report.suite(result)
        rows = runner.coverage.rows() if coverage or fail_under is not None else None
        sums = totals(results, problems)
        for report in reports:
            report.finish(problems, rows, sums)
    if sums.errors:
        return _ERRORS
    if rows is not None and fail_under is not None and share(rows) < fail_under:
        click.echo(f"Error: {share(rows):.1f} % of the outcomes are exercised; {fail_under:g} % are wanted", err=True)
        return _FAILURES
    return _FAILURES if sums.failed else 0


def _facts(content: bytes) -> ClusterFacts:
    return parse_facts(content).facts


_SOURCES: Final = Sources(policy_files, _facts, kinds_of)


@contextmanager
def _open(output: Output, style: Style) -> Iterator[Report]:
    """The report of an output, written as UTF-8 whatever the locale says."""
    try:
        if output.file is None:
            stream = sys.stdout.buffer
            yield new_report(output.format, lambda text: stream.write(text.encode("utf-8", "replace")), style)
            stream.flush()
        else:
            plain = style._replace(color=False)
            with Path(output.file).open("w", encoding="utf-8", errors="replace", newline="\n") as file:
                yield new_report(output.format, file.write, plain)
    except OSError as error:
        where = output.file or "standard output"
        raise click.ClickException(f"{where} cannot be written: {error.strerror or error}") from error
