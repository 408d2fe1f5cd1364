"""The certificates in the Secrets: made and renewed by the keeper, or given by somebody else.

Either way it ends with the CA bundle that the webhook configurations should hold now.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final, Protocol

from app.certs import InvalidPair, Pair, issued_by
from app.certs.check import chain
from app.certs.names import AUTHORITY, AUTHORITY_KEY, CERTIFICATE, KEY
from app.certs.rotation import (
    Authority,
    Observed,
    Step,
    merged,
    new_authority,
    new_leaf,
    next_step,
    read_authority,
    unexpired,
)
from app.cluster.keeper.configurations import Observed as Configured
from app.cluster.keeper.log import Log, Metrics, Once
from app.cluster.keeper.servers import Answer
from app.cluster.keeper.settings import Settings
from app.cluster.keeper.since import Since
from app.cluster.keeper.stored import Store, Stored
from app.manifests.keeper_names import AUTHORITY_SECRET, CERTIFICATE_SECRET, ROTATE_ANNOTATION

_STEPS: Final = 5
"""In one look: authority, certificate, and what two keepers at once may undo."""

Ask = Callable[[], list[Answer] | None]
"""Asks the servers, once a look at most; None if that is not possible."""


class Trust(Protocol):
    """Knows what the webhook configurations should trust."""

    def step(self, configured: Configured, ask: Ask, now: datetime) -> bytes | None:
        """Do what is next; the CA bundle for the configurations, None if there is none yet. Raises ClusterError."""


class MadeCertificates:
    """The keeper makes authority and server's certificate."""

    def __init__(self, secrets: Store, settings: Settings, log: Log, metrics: Metrics, since: Since) -> None:
        self._secrets = secrets
        self._settings = settings
        self._log = log
        self._once = Once(log)
        self._metrics = metrics
        self._since = since

    def step(self, configured: Configured, ask: Ask, now: datetime) -> bytes | None:
        """Make or renew what is due, in the order of app/certs/rotation.py."""
        for _ in range(_STEPS):
            stored, leaf_secret = self._secrets.read(AUTHORITY_SECRET), self._secrets.read(CERTIFICATE_SECRET)
            if self._belongs_to_others(AUTHORITY_SECRET, stored) or self._belongs_to_others(
                CERTIFICATE_SECRET, leaf_secret
            ):
                return leaf_secret.data.get(AUTHORITY) if leaf_secret else None
            authority = self._authority(stored, now)
            leaf = _pair(leaf_secret)
            observed = self._observed(authority, stored, configured, ask, now)
            step = next_step(authority, leaf, self._settings.server_names, now, observed)
            if step.action in ("wait", "nothing") and authority is not None:
                if step.action == "wait":
                    self._once.event("rotation_waits", why=step.why)
                self._publish(authority, leaf_secret)
                self._count(authority, leaf)
                return authority.bundle
            self._do(step, authority, stored, leaf_secret, configured, now)
        return None

    def _do(
        self,
        step: Step,
        authority: Authority | None,
        stored: Stored | None,
        leaf_secret: Stored | None,
        configured: Configured,
        now: datetime,
    ) -> None:
        lifetimes = self._settings.lifetimes
        if step.action == "authority" or authority is None:
            in_use = authority.bundle if authority else b""
            given = leaf_secret.data.get(AUTHORITY, b"") if leaf_secret else b""
            made = new_authority(merged(in_use, given, configured.bundle), now, lifetimes)
            self._write_authority(made, stored)
            self._metrics.certificates.labels("authority").inc()
            self._log.event("authority_made", why=step.why, old_still_trusted=bool(made.old))
        elif step.action == "leaf":
            leaf = new_leaf(authority, self._settings.server_names, now, lifetimes)
            data = {CERTIFICATE: leaf.certificate, KEY: leaf.key, AUTHORITY: authority.bundle}
            self._secrets.write(CERTIFICATE_SECRET, data, leaf_secret, type="kubernetes.io/tls")
            self._metrics.certificates.labels("server").inc()
            self._log.event("certificate_issued", why=step.why, names=list(self._settings.server_names))
        else:
            self._write_authority(Authority(authority.pair), stored)
            self._log.event("authority_dropped", why=step.why)

    def _write_authority(self, authority: Authority, stored: Stored | None) -> None:
        data = {AUTHORITY: authority.bundle, AUTHORITY_KEY: authority.pair.key}
        annotations = stored.annotations if stored else {}
        annotations.pop(ROTATE_ANNOTATION, None)
        self._secrets.write(AUTHORITY_SECRET, data, stored, annotations=annotations)

    def _publish(self, authority: Authority, leaf_secret: Stored | None) -> None:
        """Let those who mount the certificate see the bundle too."""
        if leaf_secret is not None and leaf_secret.data.get(AUTHORITY) != authority.bundle:
            self._secrets.write(CERTIFICATE_SECRET, {**leaf_secret.data, AUTHORITY: authority.bundle}, leaf_secret)

    def _authority(self, stored: Stored | None, now: datetime) -> Authority | None:
        if stored is None:
            return None
        try:
            return read_authority(stored.data.get(AUTHORITY, b""), stored.data.get(AUTHORITY_KEY, b""), now)
        except InvalidPair as error:
            self._once.event("authority_unusable", "warning", secret=AUTHORITY_SECRET, reason=str(error))
            return None

    def _observed(
        self, authority: Authority | None, stored: Stored | None, configured: Configured, ask: Ask, now: datetime
    ) -> Observed:
        asked = stored is not None and ROTATE_ANNOTATION in stored.annotations
        if authority is None:
            return Observed(trusted=False, served=False, asked=asked)
        settle = self._settings.settle
        bundle = authority.bundle if configured.trusts(authority.bundle) else None
        trusted = bundle is not None and (
            not configured.calling or self._since.seconds("bundle trusted", bundle) >= settle
        )
        if not authority.old:
            return Observed(trusted, served=True, asked=asked)
        present = authority.pair.certificate
        served = present if self._serve(ask(), present, now) else None
        return Observed(trusted, self._since.seconds("leaf served", served) >= settle and bool(served), asked)

    def _serve(self, answers: list[Answer] | None, authority: bytes, now: datetime) -> bool:
        if answers is None:
            return False
        behind = [each.address for each in answers if not _issued(each.certificate, authority, now)]
        if behind:
            self._once.event("servers_behind", servers=behind, wanted="a certificate of the new authority")
        return not behind

    def _belongs_to_others(self, name: str, stored: Stored | None) -> bool:
        if stored is None or stored.ours:
            return False
        self._once.event(
            "secret_of_others",
            "error",
            secret=self._secrets.path(name),
            reason="it was not made by the keeper, which leaves it alone: delete it, or run with --no-certificates",
        )
        return True

    def _count(self, authority: Authority, leaf: Pair | None) -> None:
        count_expiry(self._metrics, "authority", authority.pair.certificate)
        if leaf is not None:
            count_expiry(self._metrics, "server", leaf.certificate)
        self._metrics.rotating.set(1 if authority.old else 0)


class GivenCertificates:
    """Somebody else makes the Secret of the servers (cert-manager, or people); the keeper only reads it.

    Its ``ca.crt`` goes into the configurations, beside what they trust already until every server uses a certificate
    that it vouches for. Where cert-manager writes the bundles itself, they are left as they are.
    """

    def __init__(self, secrets: Store, settings: Settings, log: Log, metrics: Metrics, since: Since) -> None:
        self._secrets = secrets
        self._settings = settings
        self._once = Once(log)
        self._metrics = metrics
        self._since = since

    def step(self, configured: Configured, ask: Ask, now: datetime) -> bytes | None:
        """Only look."""
        stored = self._secrets.read(CERTIFICATE_SECRET)
        given = unexpired(stored.data.get(AUTHORITY, b""), now) if stored else b""
        if stored and (certificate := stored.data.get(CERTIFICATE)):
            count_expiry(self._metrics, "server", certificate)
        known = unexpired(configured.bundle, now)
        if configured.injected and known:
            return known
        if not given:
            if not known:
                self._once.event(
                    "no_authority", "warning", secret=self._secrets.path(CERTIFICATE_SECRET), key=AUTHORITY
                )
            return known or None
        if merged(given, known) == given:
            return given
        answers = ask()
        served = answers is not None and all(_issued(each.certificate, given, now) for each in answers)
        if self._since.seconds("given served", given if served else None) >= self._settings.settle and served:
            return given
        return merged(given, known)


def count_expiry(metrics: Metrics, which: str, certificate: bytes) -> None:
    """Note when the first certificate of the PEM ends, if it is one."""
    try:
        metrics.expires(which, chain(certificate)[0].not_valid_after_utc)
    except InvalidPair:
        return


def _issued(certificate: bytes | None, authorities: bytes, now: datetime) -> bool:
    try:
        return certificate is not None and issued_by(certificate, authorities, now)
    except InvalidPair:
        return False


def _pair(stored: Stored | None) -> Pair | None:
    data: Mapping[str, bytes] = stored.data if stored else {}
    return Pair(data[CERTIFICATE], data[KEY]) if CERTIFICATE in data and KEY in data else None
