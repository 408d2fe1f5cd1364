"""Headless Chromium, watched: what it says on its console, and whom it asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize

WIDE: ViewportSize = {"width": 1280, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 844}
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Watched:
    """A page, and what it does: ``complaints`` are console messages and script errors, ``asked`` all requests."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))

    def outside(self, *origins: str) -> list[str]:
        """The requests to anywhere but these origins; what an address holds in itself asks nobody."""
        return [url for url in self.asked if not url.startswith(("data:", *(f"{origin}/" for origin in origins)))]

    def violations(self) -> list[str]:
        """What axe-core finds on the page that is serious or critical."""
        found: list[dict[str, Any]] = Axe().run(self.page).response["violations"]
        return [
            f"{each['id']} ({each['impact']}): {node['html'][:200]} {node['failureSummary']}"
            for each in found
            if each["impact"] in ("serious", "critical")
            for node in each["nodes"]
        ]

    def path(self) -> str:
        """The address without its origin."""
        parts = urlsplit(self.page.url)
        return parts.path + (f"?{parts.query}" if parts.query else "")


@contextmanager
def watched(browser: Browser, **options: Any) -> Iterator[Watched]:
    """A page in a context of its own; at the end it must have been quiet, and must have asked nobody else."""
    context = browser.new_context(**{"viewport": WIDE, "color_scheme": "light", **options})
    context.set_default_timeout(15_000)
    try:
        made = Watched(context.new_page())
        yield made
        assert made.complaints == []
    finally:
        context.close()
