"""docs/testing.md and docs/explain.md: their transcripts are run, and every key of a PolicyTest has a row."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.suite.fixtures import FOLDERS
from app.suite.schema import PolicyTest
from tests.docs.transcripts import commands, rewritten, run, write_files

DOCS = Path(__file__).parents[2] / "docs"
TESTING = (DOCS / "testing.md").read_text(encoding="utf-8")
SCHEMA: dict[str, Any] = PolicyTest.model_json_schema(by_alias=True)
# The same keys as in another row, or any at all.
ELSEWHERE = ("Inline", "oldObject", "findingsInclude")


@pytest.mark.parametrize("name", ["testing.md", "explain.md"])
def test_transcripts(name: str, tmp_path: Path) -> None:
    page = (DOCS / name).read_text(encoding="utf-8")
    write_files(page, tmp_path)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    outputs = [run(command.line, tmp_path, {"PATH": path}) for command in commands(page)]
    assert outputs
    assert rewritten(page, outputs) == page


def keys(node: dict[str, Any], path: str = "") -> Iterator[str]:
    """The paths of all keys of a schema, as the table writes them."""
    for name, entry in node.get("properties", {}).items():
        at = f"{path}.{name}" if path else name
        yield at
        for inner, end in forms(entry):
            if name not in ELSEWHERE and inner.get("title") not in ELSEWHERE:
                yield from keys(inner, at + end)


def forms(entry: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """What a value may be, and how the path of a key in it goes on."""
    for form in entry.get("oneOf", [entry]):
        resolved = SCHEMA["$defs"][form["$ref"].rpartition("/")[2]] if "$ref" in form else form
        if resolved.get("type") == "array":
            yield from ((inner, f"[]{end}") for inner, end in forms(resolved["items"]))
        else:
            yield resolved, ""


def test_every_key_has_a_row() -> None:
    section = TESTING.partition("## PolicyTest")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([A-Za-z.\[\]]+)` \|", section, re.MULTILINE) == list(keys(SCHEMA))


def test_every_folder_has_a_row() -> None:
    assert re.findall(r"^\| `(\w+)/x.yaml` \|", TESTING, re.MULTILINE) == list(FOLDERS)
