"""docs/workloads.md lists the kinds as the data has them, and what it shows is what happens."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from app.policy.load import load
from app.workloads.custom import CUSTOM_KINDS
from app.workloads.kinds import Kind, every_part
from tests.docs.transcripts import commands, run, write_files

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "workloads.md").read_text(encoding="utf-8")


def tables() -> str:
    """The tables of kinds: one a group, in the order of the data."""
    rows: dict[str, list[str]] = {}
    for (group, name), kind in CUSTOM_KINDS.items():
        rows.setdefault(group, []).append(f"| {name} | {'<br>'.join(where(kind))} | {way(kind)} | {kind.source} |")
    head = "| kind | where | made by way of | source |\n|---|---|---|---|\n"
    return "\n".join(f"### `{group}`\n\n{head}" + "\n".join(listed) + "\n" for group, listed in rows.items())


def where(kind: Kind) -> Iterator[str]:
    for part in every_part(kind):
        for path in part.paths:
            said = f": {part.about}" if part.about else ""
            lacks = "".join(f"; no {name}" for name in part.lacks)
            guarded = f"; {', '.join(part.guarded)} with a flag" if part.guarded else ""
            yield f"`{path}`{said}{lacks}{guarded}"
        for path in part.objects:
            yield f"`{path}`: a whole object"


def way(kind: Kind) -> str:
    found = {part.validated for part in every_part(kind) if part.paths}
    if kind.objects:
        return "the object"
    return "workloads" if found == {True} else "pods" if found == {False} else "pods, the last by workloads"


def test_the_tables_are_those_of_the_data() -> None:
    written = TEXT.partition("prints what they should be. -->\n\n")[2]
    assert written == tables(), f"docs/workloads.md should end in:\n{tables()}"


def test_the_example_is_a_part_of_a_policy() -> None:
    (text,) = re.findall(r"^```yaml\n(workloads:.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    whole: dict[str, Any] = {"apiVersion": "gpugate.dev/v1alpha1", "kind": "GpuPolicy", "metadata": {"name": "p"}}
    whole["spec"] = yaml.safe_load(text)
    policy = load([("p.yaml", yaml.safe_dump(whole).encode())])
    assert [kind.paths for kind in policy.workload_kinds] == [("/spec/stages/*/template/spec",)]


def test_the_transcript_is_what_happens(tmp_path: Path) -> None:
    write_files(TEXT, tmp_path)
    environment = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    for command in commands(TEXT):
        assert run(command.line, tmp_path, environment) == command.output


def test_lines_are_short_enough_to_read_in_a_terminal() -> None:
    prose = [line for line in TEXT.splitlines() if not line.startswith(("|", "  train.yaml"))]
    assert [line for line in prose if len(line) > 155] == []
