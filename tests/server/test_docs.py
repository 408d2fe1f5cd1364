"""docs/serve.md has every option, metric and event."""

import re
from pathlib import Path

import click

from app.cli.serve import command
from app.server import limits
from tests.support.server import Server

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/serve.md").read_text()


def test_every_option() -> None:
    options = {
        name for each in command.params if isinstance(each, click.Option) for name in each.opts if name != "--help"
    }
    assert options == set(re.findall(r"^\| `(--[a-z-]+)` \|", PAGE, re.MULTILINE))


def test_every_metric(tmp_path: Path) -> None:
    with Server(extra=["--record", str(tmp_path)]) as server:
        text = server.metrics_client.get("/metrics").text
    told = set(re.findall(r"^# TYPE (gpugate_\w+)", text, re.MULTILINE))
    listed = set(re.findall(r"^\| `(gpugate_\w+)` \|", PAGE, re.MULTILINE))
    assert told == listed


def test_every_event() -> None:
    source = "".join(path.read_text() for path in sorted((ROOT / "app/server").glob("*.py")))
    events = set(re.findall(r'\.event\(\s*"(\w+)"', source))
    assert len(events) > 10
    assert {event for event in events if f"`{event}`" not in PAGE} == set()


def test_the_limits_in_words() -> None:
    said = (
        ("TLS handshake | {} s", limits.HANDSHAKE_TIMEOUT),
        ("first request on a connection | {} s", limits.FIRST_REQUEST_TIMEOUT),
        ("from its first byte to its last | {} s", limits.READ_TIMEOUT),
        ("or {} % of its `?timeout=`", limits.TIMEOUT_SHARE * 100),
        ("used, idle | {} s", limits.KEEP_ALIVE),
        ("headers, body | {} KiB", limits.MAX_HEADERS / 1024),
        ("KiB, {} MiB", limits.MAX_BODY / 2**20),
        ("together | {} MiB", limits.MAX_HELD / 2**20),
        ("every {} s:", limits.RETRY_REFUSED),
        ("or after {} s;", limits.DRAIN_TIMEOUT),
        ("under way gets {} s", limits.SHUTDOWN_TIMEOUT),
    )
    for words, value in said:
        assert words.format(f"{value:g}") in PAGE
