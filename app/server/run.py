"""Runs the server: the two listeners, the clock tick, and the signals.

SIGTERM and SIGINT stop it gracefully, a second one at once. Policy, certificates and facts are followed; SIGHUP reads
them at once.
"""

import asyncio
import gc
import logging
import resource
import signal
import socket
import traceback
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import uvloop

from app.server.apps import metrics_app, webhook_app
from app.server.connections import Connections
from app.server.limits import DRAIN_QUIET, DRAIN_TIMEOUT, MAX_CONNECTIONS, MAX_METRICS_CONNECTIONS, TICK
from app.server.listener import Listener
from app.server.log import LogHandler
from app.server.reload import Reloader
from app.server.service import Service
from app.server.tls import Certificates


def run(
    service: Service,
    certificates: Certificates,
    webhook: socket.socket,
    metrics: socket.socket,
    *,
    max_connections: int = MAX_CONNECTIONS,
) -> None:
    """Serve on the two bound sockets until a signal says stop. Returns once everything has ended."""
    _allow_files(max_connections)
    logging.basicConfig(handlers=[LogHandler(service.log)], level=logging.WARNING, force=True)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_Process(service, certificates, webhook, metrics, max_connections).serve())
    finally:
        service.log.close()


def _allow_files(connections: int) -> None:
    """Let the process have as many files open as its connections need: soft limits are often 1,024."""
    wanted = 2 * connections + 256  # those in their handshake, and what is not a connection
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class _Process:
    """The running server."""

    def __init__(
        self,
        service: Service,
        certificates: Certificates,
        webhook: socket.socket,
        metrics: socket.socket,
        max_connections: int,
    ) -> None:
        self._service = service
        self._certificates = certificates
        self._ports = {"port": webhook.getsockname()[1], "metrics_port": metrics.getsockname()[1]}
        connections = Connections(max_connections)
        service.metrics.registry.register(connections)
        self._webhook = Listener(webhook_app(service), webhook, connections, certificates.context)
        self._metrics = Listener(metrics_app(service), metrics, Connections(MAX_METRICS_CONNECTIONS))
        self._stop = asyncio.Event()
        self._signals = 0
        self._reloader = Reloader(service, certificates)
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        """Run until stopped."""
        loop = self._service.decisions.loop = asyncio.get_running_loop()
        recording = self._service.recording
        if recording:
            recording.loop = loop
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._asked_to_stop, number)
        loop.add_signal_handler(signal.SIGHUP, self._asked_to_reload)
        self._service.policy_loaded()
        self._service.certificate_loaded(self._certificates.current.leaf.not_after)
        listeners = [asyncio.create_task(listener.serve()) for listener in (self._webhook, self._metrics)]
        # Apart, so that a disk that takes its time holds up nothing else.
        background = [asyncio.create_task(self._each_tick(act)) for act in (self._tick, self._reloader.look)]
        while not (self._webhook.started and self._metrics.started):
            if any(listener.done() for listener in listeners):
                await asyncio.gather(*listeners)
            await asyncio.sleep(0.001)
        # What lives as long as the process need not be looked at by every garbage collection.
        gc.collect()
        gc.freeze()
        policy = self._service.policies.current.policy
        self._service.log.event("listening", **self._ports, policy=policy.digest)
        await self._stop.wait()
        await self._drain()
        self._webhook.should_exit = self._metrics.should_exit = True
        await asyncio.gather(*listeners)
        for task in background:
            task.cancel()
        self._service.decisions.settle()
        if recording:
            recording.close()
            recording.report(self._service.log)
        self._service.log.event("stopped")

    def _asked_to_stop(self, number: int) -> None:
        self._signals += 1
        if self._signals > 1:
            self._webhook.force_exit = self._metrics.force_exit = True
        self._service.draining = True
        self._service.log.event("stopping", signal=signal.Signals(number).name)
        self._stop.set()
        if number == signal.SIGINT:
            self._signals += 1  # somebody at a terminal waits

    async def _drain(self) -> None:
        """Go on answering, with `Connection: close`, while connections are used, for a bounded time."""
        loop = asyncio.get_running_loop()
        end = loop.time() + DRAIN_TIMEOUT
        while self._signals < 2 and (now := loop.time()) < end:
            connections = list(self._webhook.open_connections())
            if all(each.idle and now - each.last_heard > DRAIN_QUIET for each in connections):
                return
            await asyncio.sleep(0.02)

    def _asked_to_reload(self) -> None:
        task = asyncio.create_task(self._reloader.look(asked=True))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _each_tick(self, act: Callable[[], Awaitable[None]]) -> None:
        """Do something about once a second, whatever goes wrong with it."""
        while True:
            await asyncio.sleep(TICK)
            try:
                await act()
            except Exception:  # noqa: BLE001 - what is wrong once must not end it
                self._service.log.event("internal_error", "error", traceback=traceback.format_exc())

    async def _tick(self) -> None:
        """What is looked at about once a second, so that no request has to."""
        service, now = self._service, asyncio.get_running_loop().time()
        service.today = datetime.now(UTC).date()
        service.settle_facts()
        if service.recording:
            service.recording.report(service.log)
        service.log.flush()
        for listener in (self._webhook, self._metrics):
            listener.check_deadlines(now)
