"""`gpugate replay`: what another policy would have answered to pods that were recorded."""

import sys
from datetime import UTC, datetime
from time import monotonic
from typing import Final, Literal, get_args

import click

from app.admission.recorded import pods
from app.admission.replay import Judge, differences
from app.admission.review import printable
from app.cli.options import load_policy, policy_option, read_facts
from app.cli.replay_report import Input, as_json, as_text, notes
from app.cli.replay_tally import Tally
from app.policy.compiled import Mode
from app.sources.recordings import Recordings

FailOn = Literal["newly-refused", "change", "none"]

_RECORDED: Final = "recorded"
_DIFFERENT: Final = 1
_ERRORS: Final = 2
_PROBLEMS_SHOWN: Final = 20
_PROGRESS_EVERY: Final = 1.0  # seconds


@click.command(short_help="Show what another policy would have answered to recorded pods.")
@click.argument("paths", metavar="FILE|DIR...", nargs=-1, required=True)
@policy_option
@click.option(
    "--old-policy",
    metavar="FILE|DIR",
    help="Compare with what this policy would have answered.  [default: with what was answered]",
)
@click.option(
    "--mode",
    type=click.Choice([_RECORDED, *get_args(Mode)]),
    default=_RECORDED,
    show_default=True,
    help=f'Judge every pod in this mode. "{_RECORDED}": in the one that it was judged in.',
)
@click.option("--today", is_flag=True, help="Exceptions as of today.  [default: as of the day that was recorded]")
@click.option("--cluster-facts", metavar="FILE", help="What is known of the cluster, as JSON.")
@click.option(
    "--fail-on",
    type=click.Choice(get_args(FailOn)),
    default="newly-refused",
    show_default=True,
    help="Exit 1 if a pod would newly be refused; if anything would be different; never.",
)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    paths: tuple[str, ...],
    policy_path: str | None,
    old_policy: str | None,
    mode: str,
    today: bool,
    cluster_facts: str | None,
    fail_on: FailOn,
    output: str,
) -> int:
    """Show what a policy would have answered to recorded pods, and what is different about it.

    Reads what `gpugate serve --record` wrote, AdmissionReviews as JSON, and audit logs of an API server at level
    Request; gzip or not; - is standard input. Exits 0 if no pod would newly be refused, 1 if one would, 2 if
    something could not be read; then what could be read is compared all the same.

    \b
    Examples:
      gpugate replay --policy stricter.yaml recorded/
      gpugate replay --policy new/ --old-policy old/ /var/log/kubernetes/audit.log
      gpugate replay --policy gpugate.yaml --mode enforce -o json recorded/
    """
    policy = load_policy(policy_path)
    old = load_policy(old_policy) if old_policy else None
    facts = read_facts(cluster_facts)
    chosen: Mode | None = next((each for each in get_args(Mode) if each == mode), None)
    now = datetime.now(UTC).date()
    day = now if today else None
    new_judge = Judge(policy, facts, chosen, day)
    old_judge = Judge(old, facts, chosen, day) if old else None
    problems = _Problems()
    recordings, tally = Recordings(paths, problems.add), Tally()
    progress = _Progress()
    for pod in pods(recordings):
        before = old_judge.answer(pod, now) if old_judge else pod.answered
        tally.add(pod, new_judge.mode_of(pod), list(differences(before, new_judge.answer(pod, now))))
        progress.tell(tally)
    problems.finish()
    read = Input(recordings.files, recordings.lines, recordings.left_out, problems.count)
    said = as_json(tally, read, policy, old, problems.kept) if output == "json" else as_text(tally, read)
    click.echo(said, nl=False)
    for note in notes(tally, read, compared=old is not None, mode=chosen is not None):
        click.echo(f"Note: {printable(note)}", err=True)
    if problems.count:
        return _ERRORS
    different = tally.changes["newly-refused"] if fail_on == "newly-refused" else tally.pods - tally.same
    return _DIFFERENT if different and fail_on != "none" else 0


class _Problems:
    """What could not be read: the first on standard error, all of them counted."""

    def __init__(self) -> None:
        self.count = 0
        self.kept: list[str] = []

    def add(self, problem: str) -> None:
        """Take one."""
        self.count += 1
        if len(self.kept) < _PROBLEMS_SHOWN:
            self.kept.append(problem)
            click.echo(f"Error: {printable(problem)}", err=True)

    def finish(self) -> None:
        """Say how many were not said."""
        if self.count > len(self.kept):
            click.echo(f"Error: and {self.count - len(self.kept)} more that cannot be read", err=True)


class _Progress:
    """On a terminal, how far it is, once a second."""

    def __init__(self) -> None:
        self._next = monotonic() + _PROGRESS_EVERY if sys.stderr.isatty() else None

    def tell(self, tally: Tally) -> None:
        """Say it if it is time."""
        if self._next is not None and monotonic() >= self._next:
            self._next += _PROGRESS_EVERY
            click.echo(f"{tally.pods} pods ...", err=True)
