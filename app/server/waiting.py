"""Before there are a policy and a certificate that can be used: live, not ready, and telling what is missing."""

import asyncio
import signal
import socket
from collections.abc import Callable
from typing import Final, TypeVar

import uvloop

from app.server.apps import waiting_app
from app.server.connections import Connections
from app.server.follow import problems_of
from app.server.limits import MAX_METRICS_CONNECTIONS, MAX_TEXT, TICK
from app.server.listener import Listener
from app.server.log import JsonLog
from app.server.metrics import Metrics
from app.server.store import PolicyStore
from app.server.tls import Certificates

T = TypeVar("T")

_WANTED: Final = ("policy", "certificate")


def wait_for_files(
    policies: Callable[[], PolicyStore],
    certificates: Callable[[], Certificates],
    metrics: Metrics,
    log: JsonLog,
    bound: socket.socket,
) -> tuple[PolicyStore, Certificates] | None:
    """Try about once a second to make both, and meanwhile answer on the metrics port, which stays bound.

    None if a signal says stop. What is wrong is logged and counted once for each reason.
    """
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_Waiting(policies, certificates, metrics, log).serve(bound))


class _Waiting:
    """The server that waits; what its readiness says."""

    policy_digest = None

    def __init__(
        self,
        policies: Callable[[], PolicyStore],
        certificates: Callable[[], Certificates],
        metrics: Metrics,
        log: JsonLog,
    ) -> None:
        self._make_policies, self._make_certificates = policies, certificates
        self._metrics = metrics
        self._log = log
        self._problems: dict[str, str] = {}
        self._stop = asyncio.Event()

    def not_ready(self) -> list[str]:
        """What is wrong with each of them."""
        return [f"{what}: {self._problems[what]}" for what in _WANTED if what in self._problems]

    def notes(self) -> list[str]:
        """Nothing beside."""
        return []

    async def serve(self, bound: socket.socket) -> tuple[PolicyStore, Certificates] | None:
        """Wait for both, or for a signal."""
        if found := await self._look():
            return found
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._stop.set)
        listener = Listener(waiting_app(self, self._metrics), bound.dup(), Connections(MAX_METRICS_CONNECTIONS))
        serving = asyncio.create_task(listener.serve())
        self._log.event("waiting", "warning", metrics_port=bound.getsockname()[1], reasons=self.not_ready())
        while not (self._stop.is_set() or found):
            try:
                async with asyncio.timeout(TICK):
                    await self._stop.wait()
            except TimeoutError:
                found = await self._look()
        listener.should_exit = True
        await serving
        if found is None:
            self._log.event("stopped")
        return found

    async def _look(self) -> tuple[PolicyStore, Certificates] | None:
        # Each time both: one that was good may have changed while the other was waited for.
        policies = await self._try("policy", self._make_policies)
        certificates = await self._try("certificate", self._make_certificates)
        return (policies, certificates) if policies and certificates else None

    async def _try(self, what: str, make: Callable[[], T]) -> T | None:
        try:
            made = await asyncio.to_thread(make)
        except Exception as error:  # noqa: BLE001 - whatever is wrong may be mended
            problems = problems_of(error)
            if self._problems.get(what) != problems[0][:MAX_TEXT]:
                self._problems[what] = problems[0][:MAX_TEXT]
                failures = self._metrics.policy_failures if what == "policy" else self._metrics.certificate_failures
                failures.inc()
                self._log.event(f"{what}_refused", "error", in_force=None, problems=problems)
            return None
        self._problems.pop(what, None)
        return made
