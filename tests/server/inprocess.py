"""The server's applications in the test's own process, without sockets and TLS."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.policy.compiled import Policy
from app.server.log import JsonLog
from app.server.metrics import Metrics
from app.server.service import Service
from app.server.store import PolicyStore


def service(
    log_file: Path, *, scopes: Callable[[Policy], frozenset[str]] | None = None, policy: str = "shipped"
) -> Service:
    """A service that is ready, with its log in a file."""
    log = JsonLog(os.open(log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND))
    made = Service(PolicyStore(policy, scopes), Metrics(lambda: log.dropped), log)
    made.certificate_expiry = datetime.now(UTC) + timedelta(days=1)
    return made
