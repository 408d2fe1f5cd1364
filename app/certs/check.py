"""Checks a server's certificate and key before use: what a client would refuse is refused here, in words."""

from datetime import datetime
from typing import NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import ExtendedKeyUsageOID


class InvalidPair(ValueError):
    """The certificate and key cannot serve; the text says why."""


class Leaf(NamedTuple):
    """What a checked server certificate says: its DNS names and IP addresses, and the end of its validity (UTC)."""

    names: tuple[str, ...]
    not_after: datetime

    def covers(self, name: str) -> bool:
        """True if a client that connects to this DNS name or IP address would accept the certificate's names."""
        wildcard = "*." + name.partition(".")[2]
        return name in self.names or ("." in name and wildcard in self.names)


def check_pair(certificate: bytes, key: bytes, now: datetime) -> Leaf:
    """The leaf of a PEM certificate chain, which comes first, if it can serve with this PEM key at this time.

    ``now`` has a zone. Raises InvalidPair.
    """
    leaf = chain(certificate)[0]
    check_key(leaf, key)
    if now > leaf.not_valid_after_utc:
        raise InvalidPair(f"the certificate expired on {leaf.not_valid_after_utc:%Y-%m-%d %H:%M} UTC")
    if now < leaf.not_valid_before_utc:
        raise InvalidPair(f"the certificate is not valid before {leaf.not_valid_before_utc:%Y-%m-%d %H:%M} UTC")
    names = names_of(leaf)
    if not names:
        raise InvalidPair("the certificate has no subjectAltName; the API server does not read the common name")
    _check_usage(leaf)
    return Leaf(names, leaf.not_valid_after_utc)


def check_key(certificate: x509.Certificate, key: bytes) -> None:
    """Raise InvalidPair if the PEM key cannot be read, or is another's than the certificate's."""
    try:
        private = serialization.load_pem_private_key(key, password=None)
    except TypeError as error:
        raise InvalidPair("the private key is encrypted; gpugate reads keys without a passphrase") from error
    except ValueError as error:
        raise InvalidPair("the private key is not PEM, or of a kind that is not supported") from error
    form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    if certificate.public_key().public_bytes(*form) != private.public_key().public_bytes(*form):
        raise InvalidPair("the private key is not that of the certificate; the two files must come from one pair")


def issued_by(certificate: bytes, authorities: bytes, now: datetime) -> bool:
    """True if the PEM chain, leaf first, leads to one of the PEM authorities that is valid at this time.

    Raises InvalidPair if either holds no certificate.
    """
    links = chain(certificate)
    valid = (root for root in chain(authorities) if root.not_valid_before_utc <= now <= root.not_valid_after_utc)
    trusted = list(valid)
    for position, each in enumerate(links):
        if any(_signed(each, root) for root in trusted):
            return True
        if position + 1 < len(links) and not _signed(each, links[position + 1]):
            return False
    return False


def _signed(certificate: x509.Certificate, issuer: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def chain(pem: bytes) -> list[x509.Certificate]:
    """The certificates of a PEM file, at least one; raises InvalidPair."""
    try:
        return x509.load_pem_x509_certificates(pem)
    except ValueError as error:
        raise InvalidPair("the certificate is not PEM: expected -----BEGIN CERTIFICATE-----") from error


def names_of(leaf: x509.Certificate) -> tuple[str, ...]:
    """The DNS names and IP addresses that a certificate is for."""
    try:
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ()
    addresses = (str(address) for address in names.get_values_for_type(x509.IPAddress))
    return (*names.get_values_for_type(x509.DNSName), *addresses)


def _check_usage(leaf: x509.Certificate) -> None:
    try:
        usage = leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return
    if ExtendedKeyUsageOID.SERVER_AUTH not in usage and ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE not in usage:
        raise InvalidPair("the certificate is not for servers: its extended key usage lacks serverAuth")
