"""The result of a replay, as text for people or as JSON for programs. docs/replay.md describes both."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any, Final, get_args

import orjson

from app import __version__
from app.admission.replay import Change
from app.admission.review import printable
from app.cli.replay_tally import Group, Members, Tally
from app.policy.compiled import Policy

VERSION: Final = 1
CHANGES: Final[tuple[Change, ...]] = get_args(Change)
_SHOWN: Final = 20


class Input:
    """What was read: files, their lines, what was left out and why, how many could not be read."""

    def __init__(self, files: int, lines: int, left_out: Counter[str], problems: int) -> None:
        self.files = files
        self.lines = lines
        self.left_out = left_out
        self.problems = problems


def as_text(tally: Tally, read: Input) -> str:
    """A paragraph for each change, then one line that sums up."""
    paragraphs = [_paragraph(change, tally) for change in CHANGES if tally.changes[change]]
    return "".join(paragraphs) + _sum(tally, read) + "\n"


def notes(tally: Tally, read: Input, *, compared: bool, mode: bool) -> list[str]:
    """What to know about the result; ``compared``: with another policy, ``mode``: in one that was chosen."""
    said = [f"left out: {count} {what}" for what, count in read.left_out.most_common()]
    if tally.unfinished:
        said.append(
            f"of {_number(tally.unfinished)} only the mutating call is recorded, as something else refused it "
            "afterwards or no rule asked for the other call: judged for that call only"
        )
    if tally.unanswered and not compared:
        said.append(
            f"for {_number(tally.unanswered)} no answer is recorded: compared with being let in as sent; --old-policy "
            "compares with another policy"
        )
    if tally.modeless and not mode:
        said.append(
            f"for {_number(tally.modeless)} no mode is recorded: judged in the one that the policy has for the "
            "namespace, pinned or by default; --mode chooses another"
        )
    return said


def as_json(tally: Tally, read: Input, policy: Policy, old: Policy | None, errors: list[str]) -> str:
    """Everything, as one object."""
    groups = [_group(group, members) for change in CHANGES for group, members in tally.sorted(change)]
    result = {
        "version": VERSION,
        "tool": {"name": "gpugate", "version": __version__},
        "policy": _policy(policy),
        "oldPolicy": _policy(old) if old else None,
        "groups": groups,
        "errors": errors,
        "summary": {
            "files": read.files,
            "lines": read.lines,
            "pods": tally.pods,
            "same": tally.same,
            **{_camel(change): tally.changes[change] for change in CHANGES},
            "ungrouped": tally.ungrouped.total(),
            "withoutAnswer": tally.unanswered,
            "withoutMode": tally.modeless,
            "withoutValidatingCall": tally.unfinished,
            "leftOut": dict(read.left_out),
            "errors": read.problems,
            "first": _time(tally.first),
            "last": _time(tally.last),
        },
    }
    return orjson.dumps(result, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def _paragraph(change: Change, tally: Tally) -> str:
    groups = tally.sorted(change)
    lines = [f"{_words(change)}: {_number(tally.changes[change])}"]
    for group, members in groups[:_SHOWN]:
        rule = group.rule or "by a rule that the recording does not name"
        lines.append(f"  {group.namespace} ({group.mode}) {group.owner}: {rule}, {_number(members.count)}")
        if members.message:
            lines.append(f"    {members.message}")
    hidden = len(groups) - len(groups[:_SHOWN])
    if hidden or tally.ungrouped[change]:
        lines.append(f"  and {hidden} more groups; -o json lists them")
    return "\n".join(map(printable, lines)) + "\n\n"


def _sum(tally: Tally, read: Input) -> str:
    files = f"{read.files} file" if read.files == 1 else f"{read.files} files"
    when = ""
    if tally.first and tally.last:
        times = [f"{time.astimezone(UTC):%Y-%m-%d %H:%M}" for time in (tally.first, tally.last)]
        when = f", {' to '.join(dict.fromkeys(times))} UTC"
    counts = [f"{tally.changes[change]} {_words(change)}" for change in CHANGES if tally.changes[change]]
    if tally.same or not counts:
        counts.append(f"{tally.same} as before")
    problems = f"; {read.problems} could not be read" if read.problems else ""
    return f"{_number(tally.pods)} in {files}{when}: {', '.join(counts)}{problems}."


def _group(group: Group, members: Members) -> dict[str, Any]:
    return {
        "change": group.change,
        "namespace": group.namespace,
        "mode": group.mode,
        "owner": group.owner,
        "rule": group.rule or None,
        "pods": members.count,
        "first": _time(members.first),
        "last": _time(members.last),
        "example": {"name": members.name, "place": members.place, "message": members.message},
    }


def _policy(policy: Policy) -> dict[str, Any]:
    return {"digest": policy.digest, "documents": [document.name for document in policy.documents]}


def _time(when: datetime | None) -> str | None:
    return when.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z") if when else None


def _words(change: Change) -> str:
    return change.replace("-", " ")


def _camel(change: Change) -> str:
    first, *rest = change.split("-")
    return first + "".join(word.capitalize() for word in rest)


def _number(count: int) -> str:
    return "1 pod" if count == 1 else f"{count} pods"
