"""What certificates say, for people: who they are for, who signed them, how long they last, what is wrong."""

from datetime import datetime
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes

from app.certs.check import InvalidPair, chain, check_pair, issued_by, names_of
from app.certs.rotation import renewal


class Description(NamedTuple):
    """One certificate. ``renewal`` is when it should be replaced; ``fingerprint`` is SHA-256, in hexadecimal."""

    subject: str
    issuer: str
    authority: bool
    names: tuple[str, ...]
    not_before: datetime
    not_after: datetime
    renewal: datetime
    fingerprint: str

    def state(self, now: datetime) -> str:
        """``valid``, ``renewal due``, ``expired`` or ``not valid yet``."""
        if now > self.not_after:
            return "expired"
        if now < self.not_before:
            return "not valid yet"
        return "renewal due" if now >= self.renewal else "valid"


def describe(pem: bytes) -> list[Description]:
    """The certificates of a PEM file, in its order; raises InvalidPair if it holds none."""
    return [_described(each) for each in chain(pem)]


def problems(certificate: bytes, key: bytes | None, bundle: bytes | None, now: datetime) -> list[str]:
    """Why the API server would not accept a server with this certificate, one reason an entry; None: not known.

    ``bundle`` is what the API server is told to trust. Raises InvalidPair if ``certificate`` is no PEM.
    """
    found = []
    if key is not None:
        try:
            check_pair(certificate, key, now)
        except InvalidPair as error:
            found.append(str(error))
    if bundle is not None and not _trusted(certificate, bundle, now):
        found.append("no authority of ca.crt that is valid now has signed the certificate")
    return found


def _trusted(certificate: bytes, bundle: bytes, now: datetime) -> bool:
    try:
        return issued_by(certificate, bundle, now)
    except InvalidPair:
        return False


def _described(certificate: x509.Certificate) -> Description:
    try:
        authority = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        authority = False
    return Description(
        subject=certificate.subject.rfc4514_string(),
        issuer=certificate.issuer.rfc4514_string(),
        authority=authority,
        names=names_of(certificate),
        not_before=certificate.not_valid_before_utc,
        not_after=certificate.not_valid_after_utc,
        renewal=renewal(certificate).replace(microsecond=0),
        fingerprint=certificate.fingerprint(hashes.SHA256()).hex(),
    )
