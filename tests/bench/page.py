"""docs/benchmarks.md: a section a benchmark, each of which keeps its latest run there."""

import os
import platform
import re
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"


def write_section(title: str, text: str) -> None:
    """Put the text in the place of the section of that title, or at the end of the page."""
    page = PAGE.read_text()
    section = f"## {title}\n\n{text.strip()}\n"
    old = re.search(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    if old is None:
        PAGE.write_text(f"{page.rstrip()}\n\n{section}")
    else:
        PAGE.write_text(f"{page[: old.start()]}{section}\n{page[old.end() :]}".rstrip() + "\n")


def today() -> str:
    """The date of a run."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def machine(*dependencies: str) -> str:
    """What it ran on, and with which versions."""
    models = [text for text in Path("/proc/cpuinfo").read_text().splitlines() if text.startswith("model name")]
    model = models[0].partition(":")[2].strip() if models else platform.machine()
    versions = ", ".join(f"{name} {version(name)}" for name in dependencies)
    return f"{model}, {os.cpu_count()} cores, Linux, Python {platform.python_version()}; {versions}"
