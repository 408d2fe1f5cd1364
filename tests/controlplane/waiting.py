"""Waiting for something to become so."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_for(fn: Callable[[], T | None], timeout: float = 30.0, message: str = "") -> T:
    """Calls fn until it returns something true, and returns that; fails with the message after the timeout.

    Polls often at first, since most waits on a control plane are over in milliseconds, then less.
    """
    deadline = time.monotonic() + timeout
    interval = 0.005
    while True:
        value = fn()
        if value:
            return value
        if time.monotonic() >= deadline:
            what = message or getattr(fn, "__name__", "condition")
            raise AssertionError(f"not within {timeout:g} s: {what} (last value: {value!r})")
        time.sleep(interval)
        interval = min(interval * 1.5, 0.2)
