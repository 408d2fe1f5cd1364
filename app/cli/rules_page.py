"""The sections of docs/rules.md, for a terminal. Tests hold that page to the registry, and run its examples."""

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill
from typing import Final

import click

WIDTH: Final = 100
_SECTION: Final = re.compile(r"^## `([\w-]+)`\n(.*?)(?=^#|\Z)", re.MULTILINE | re.DOTALL)
_BOLD: Final = re.compile(r"\*\*(.+?)\*\*|(?<!\w)\*(\w[^*]*)\*(?!\w)")
_LINK: Final = re.compile(r"\[([^\]]+)\]\([^)]+\)")


def sections() -> dict[str, str]:
    """The text of each section by its name: first the rules, then the kinds of injections."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "docs" / "rules.md"
    page = installed if installed.exists() else package.parent / "docs" / "rules.md"
    return dict(_SECTION.findall(page.read_text(encoding="utf-8")))


def for_terminal(section: str) -> str:
    """Markdown as text to read: paragraphs filled, code indented, tables as lists, bold words for who can see them."""
    return "\n\n".join(_blocks(section))


def _blocks(section: str) -> Iterator[str]:
    for number, part in enumerate(re.split(r"^```\w*\n", section, flags=re.MULTILINE)):
        if number % 2:  # between the fences
            yield "\n".join(f"    {line}".rstrip() for line in part.rstrip().splitlines())
        else:
            yield from (_block(block) for block in re.split(r"\n{2,}", part.strip()) if block)


def _block(block: str) -> str:
    lines = block.splitlines()
    if lines[0].startswith("|"):
        rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
        return "\n".join(_item(row) for row in rows[2:])
    if lines[0].startswith("- "):
        items = re.split(r"^- ", block, flags=re.MULTILINE)[1:]
        return "\n".join(_fill(_inline(item), "- ") for item in items)
    return _fill(_inline(block), "")


def _item(row: list[str]) -> str:
    name, *middle, last = map(_inline, row)
    default = f" ({', '.join(middle)})" if any(cell not in ("", "-") for cell in middle) else ""
    return _fill(f"{name}{default}: {last}", "- ")


def _inline(text: str) -> str:
    """The text without links, its bold words between characters that take no room worth speaking of."""
    return _BOLD.sub(lambda match: f"\1{match[1] or match[2]}\2", _LINK.sub(r"\1", text))


def _fill(text: str, start: str) -> str:
    filled = fill(text, WIDTH, initial_indent=start, subsequent_indent=" " * len(start), break_on_hyphens=False)
    return re.sub("\1([^\2]*)\2", lambda match: click.style(match[1], bold=True), filled)
