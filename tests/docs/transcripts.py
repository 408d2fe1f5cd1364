"""Transcripts in Markdown: ``console`` blocks with ``$`` commands and what they print."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

_BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"# (\S+\.yaml)\n")


class Command(NamedTuple):
    """A command of a transcript and the output that it shows."""

    line: str
    output: str


def write_files(page: str, folder: Path) -> None:
    """Write each ``yaml`` block whose first line is a comment with a file name."""
    for block in _BLOCK.finditer(page):
        named = _NAMED.match(block["body"]) if block["language"] == "yaml" else None
        if named:
            (folder / named[1]).write_text(block["body"][named.end() :])


def commands(page: str) -> Iterator[Command]:
    """The commands of all ``console`` blocks, in order."""
    for block in _BLOCK.finditer(page):
        if block["language"] == "console":
            for part in re.split(r"^\$ ", block["body"], flags=re.MULTILINE)[1:]:
                line, _, output = part.partition("\n")
                yield Command(line, output)


def run(command: str, folder: Path, environment: Mapping[str, str]) -> str:
    """What the command prints, both streams as a terminal shows them, with a line end at the end."""
    result = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=60,
    )
    return result.stdout if result.stdout.endswith("\n") or not result.stdout else result.stdout + "\n"


def rewritten(page: str, outputs: list[str]) -> str:
    """The page with other outputs, one for each command."""
    remaining = iter(outputs)

    def block(match: re.Match[str]) -> str:
        if match["language"] != "console":
            return match[0]
        parts = re.split(r"^\$ ", match["body"], flags=re.MULTILINE)[1:]
        body = "".join(f"$ {part.partition(chr(10))[0]}\n{next(remaining)}" for part in parts)
        return f"```console\n{body}```"

    return _BLOCK.sub(block, page)
