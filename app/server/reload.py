"""Follows the files of a running server: policy, certificates, cluster facts."""

from typing import Any

from app.server.follow import Follower
from app.server.service import Service
from app.server.store import LoadedPolicy
from app.server.tls import Certificates, LoadedPair
from app.server.watch import Watch
from app.sources.facts import Facts


class Reloader:
    """Brings a service up to date."""

    def __init__(self, service: Service, certificates: Certificates) -> None:
        self._followers: list[Follower[Any]] = [
            Follower(_Policy(service)),
            Follower(_Certificate(service, certificates)),
        ]
        if service.facts_file:
            self._followers.append(Follower(_Facts(service)))

    async def look(self, *, asked: bool = False) -> None:
        """Load what has changed; with ``asked``, everything."""
        for follower in self._followers:
            await follower.look(asked=asked)


class _Policy:
    def __init__(self, service: Service) -> None:
        self._service = service

    @property
    def watch(self) -> Watch:
        return self._service.policies.watch

    def load(self) -> LoadedPolicy:
        return self._service.policies.load()

    def adopt(self, loaded: LoadedPolicy) -> None:
        service = self._service
        service.policies.current = loaded
        service.policy_loaded()
        service.log.event("policy_loaded", digest=loaded.policy.digest, path=service.policies.path)

    def refuse(self, problems: list[str], *, again: bool) -> None:
        service = self._service
        service.policy_refused(problems)
        if not again:
            service.metrics.policy_failures.inc()
            in_force = service.policies.current.policy.digest
            service.log.event("policy_refused", "error", in_force=in_force, problems=problems)


class _Certificate:
    def __init__(self, service: Service, certificates: Certificates) -> None:
        self._service = service
        self._certificates = certificates

    @property
    def watch(self) -> Watch:
        return self._certificates.watch

    def load(self) -> LoadedPair:
        return self._certificates.load()

    def adopt(self, loaded: LoadedPair) -> None:
        self._certificates.current = loaded
        self._service.certificate_loaded(loaded.leaf.not_after)
        self._service.log.event("certificate_loaded", expires=loaded.leaf.not_after)

    def refuse(self, problems: list[str], *, again: bool) -> None:
        self._service.certificate_refused(problems)
        if not again:
            self._service.metrics.certificate_failures.inc()
            self._service.log.event("certificate_refused", "error", reason=problems[0])


class _Facts:
    """Facts that went bad are told by their state."""

    def __init__(self, service: Service) -> None:
        assert service.facts_file is not None
        self._service = service
        self._file = service.facts_file

    @property
    def watch(self) -> Watch:
        return self._file.watch

    def load(self) -> Facts:
        return self._file.load()

    def adopt(self, loaded: Facts) -> None:
        self._file.facts, self._file.problem = loaded, None
        self._service.log.event("cluster_facts_read", path=str(self._file.path), collected_at=loaded.collected_at)
        self._service.settle_facts()

    def refuse(self, problems: list[str], *, again: bool) -> None:
        absent = not self._file.path.exists()
        self._file.problem = "absent" if absent else f"unreadable: {problems[0]}"
        if not (again or absent):
            self._service.metrics.facts_failures.inc()
        self._service.settle_facts()
