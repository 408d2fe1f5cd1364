"""The order in which an authority and a server's certificate are renewed without a client ever refusing a server.

A new authority is trusted before anything is signed by it, and an old one until nothing is in use that it signed:

1. a new authority is made, and stands in the bundle before the old one;
2. once the API servers trust the bundle, the server's certificate is issued by the new one;
3. once every server uses that, the old one leaves the bundle.

What comes next follows from what is there, so that it does not matter who made the last step, or when.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from app.certs.check import InvalidPair, chain, check_key, check_pair, issued_by
from app.certs.issue import AUTHORITY_LIFETIME, LEAF_LIFETIME, Pair, issue, make_authority

_RENEWED_AFTER: Final = 2 / 3
"""Of its lifetime. What is left is for whoever has to be told that renewing fails."""


class Authority(NamedTuple):
    """The pair that signs now, and the authorities (PEM) before it, of which something may still be in use."""

    pair: Pair
    old: bytes = b""

    @property
    def bundle(self) -> bytes:
        """What clients should trust, as PEM, the present one first."""
        return self.pair.certificate + self.old


class Lifetimes(NamedTuple):
    """How long certificates are valid for."""

    authority: timedelta = AUTHORITY_LIFETIME
    leaf: timedelta = LEAF_LIFETIME


class Observed(NamedTuple):
    """What is known of the others. ``trusted``: the API servers know the whole bundle. ``served``: every server uses
    a certificate of the present authority. ``asked``: somebody wants a new authority."""

    trusted: bool
    served: bool
    asked: bool = False


class Step(NamedTuple):
    """What to do next, and why, in words for a log: ``wait`` for something, or ``nothing`` until renewal is due."""

    action: Literal["authority", "leaf", "drop", "wait", "nothing"]
    why: str


def next_step(
    authority: Authority | None, leaf: Pair | None, names: Sequence[str], now: datetime, observed: Observed
) -> Step:
    """What keeps clients and servers together and nothing from expiring; ``now`` has a zone.

    ``authority`` is None if there is none that can sign (see ``read_authority``); ``names`` are those that the
    server's certificate must be for.
    """
    if authority is None:
        return Step("authority", "there is no authority that can sign")
    problem = _unusable(leaf, now)
    if leaf is None or problem:
        # Nothing that works is lost, so there is nothing to wait for.
        return Step("leaf", problem)
    if not issued_by(leaf.certificate, authority.pair.certificate, now):
        if observed.trusted:
            return Step("leaf", "the API servers trust the new authority")
        return Step("wait", "the API servers have to trust the new authority first")
    if missing := [name for name in names if not check_pair(leaf.certificate, leaf.key, now).covers(name)]:
        return Step("leaf", f"the certificate is not for {', '.join(missing)}")
    if due(leaf.certificate, now):
        return Step("leaf", f"the certificate expires on {_end(leaf.certificate)}")
    if authority.old and (observed.served or not unexpired(authority.old, now)):
        return Step("drop", "every server uses a certificate of the new authority")
    if authority.old:
        return Step("wait", "servers may still use a certificate of the old authority")
    if observed.asked:
        return Step("authority", "a new one was asked for")
    if due(authority.pair.certificate, now):
        return Step("authority", f"the authority expires on {_end(authority.pair.certificate)}")
    return Step("nothing", "")


def new_authority(trusted: bytes, now: datetime, lifetimes: Lifetimes) -> Authority:
    """A new authority beside those trusted so far (PEM, may be empty), as far as they are still valid."""
    return Authority(make_authority(now, lifetime=lifetimes.authority), unexpired(trusted, now))


def new_leaf(authority: Authority, names: Sequence[str], now: datetime, lifetimes: Lifetimes) -> Pair:
    """A server's pair, signed by the present authority; raises ValueError as ``issue`` does."""
    return issue(authority.pair, names, now, lifetime=lifetimes.leaf)


def read_authority(bundle: bytes, key: bytes, now: datetime) -> Authority:
    """The authority of a PEM bundle, in which it stands first, and its key. Raises InvalidPair if it cannot sign."""
    first, *rest = chain(bundle)
    check_key(first, key)
    if not first.not_valid_before_utc <= now <= first.not_valid_after_utc:
        raise InvalidPair(f"the authority is not valid now, but until {first.not_valid_after_utc:%Y-%m-%d %H:%M} UTC")
    pair = Pair(first.public_bytes(Encoding.PEM), key)
    try:
        issue(pair, ["localhost"], now)
    except (ValueError, x509.ExtensionNotFound) as error:
        raise InvalidPair(f"the authority cannot sign: {error}") from error
    return Authority(pair, _pem(rest))


def due(certificate: bytes, now: datetime) -> bool:
    """True once it is time to renew the first certificate of the PEM."""
    return now >= renewal(chain(certificate)[0])


def renewal(certificate: x509.Certificate) -> datetime:
    """When two thirds of a certificate's lifetime are over."""
    lifetime = certificate.not_valid_after_utc - certificate.not_valid_before_utc
    return certificate.not_valid_before_utc + lifetime * _RENEWED_AFTER


def unexpired(bundle: bytes, now: datetime) -> bytes:
    """The certificates of a bundle that are not past their end, each once, in their order; "" for what is no PEM."""
    try:
        found = chain(bundle)
    except InvalidPair:
        return b""
    return _pem(dict.fromkeys(each for each in found if each.not_valid_after_utc >= now))


def merged(*bundles: bytes) -> bytes:
    """The certificates of all the bundles, each once, in their order; what is no PEM counts for nothing."""
    found: dict[x509.Certificate, None] = {}
    for bundle in bundles:
        try:
            found.update(dict.fromkeys(chain(bundle)))
        except InvalidPair:
            continue
    return _pem(found)


def holds(bundle: bytes, wanted: bytes) -> bool:
    """True if every certificate of ``wanted`` is in the bundle; both are PEM."""
    return merged(bundle) == merged(bundle, wanted)


def _unusable(leaf: Pair | None, now: datetime) -> str:
    if leaf is None:
        return "there is no certificate"
    try:
        check_pair(leaf.certificate, leaf.key, now)
    except InvalidPair as error:
        return str(error)
    return ""


def _end(certificate: bytes) -> str:
    return f"{chain(certificate)[0].not_valid_after_utc:%Y-%m-%d}"


def _pem(certificates: Iterable[x509.Certificate]) -> bytes:
    return b"".join(each.public_bytes(Encoding.PEM) for each in certificates)
