"""Makes a certificate authority, and server certificates that it signs.

What Go's crypto/x509 asks for, as the API server is the client: names in subjectAltName (CN is not read), the
extended key usage serverAuth, signatures of SHA-256 or better. Python 3.13 and later also refuse certificates
without key identifiers.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

AUTHORITY_LIFETIME: Final = timedelta(days=3650)
LEAF_LIFETIME: Final = timedelta(days=365)

# The clock of whoever checks may be behind that of whoever signs.
_BACKDATED: Final = timedelta(hours=1)

_NO_USAGE: Final = {
    "digital_signature": False,
    "content_commitment": False,
    "key_encipherment": False,
    "data_encipherment": False,
    "key_agreement": False,
    "key_cert_sign": False,
    "crl_sign": False,
    "encipher_only": False,
    "decipher_only": False,
}


class Pair(NamedTuple):
    """A certificate and its private key (ECDSA P-256, PKCS 8, not encrypted), both PEM."""

    certificate: bytes
    key: bytes


def make_authority(now: datetime, *, lifetime: timedelta = AUTHORITY_LIFETIME) -> Pair:
    """A self-signed authority that may sign server certificates and no further authorities; ``now`` has a zone."""
    key = ec.generate_private_key(ec.SECP256R1())
    # A serial number in the name keeps two authorities of one cluster apart while one takes over from the other.
    name = _name(f"gpugate-ca-{x509.random_serial_number() % 2**32:08x}")
    usage = x509.KeyUsage(**{**_NO_USAGE, "key_cert_sign": True, "crl_sign": True})
    builder = (
        _unsigned(name, key.public_key(), name, now, lifetime)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
    )
    return _pair(builder.sign(key, hashes.SHA256()), key)


def issue(authority: Pair, names: Sequence[str], now: datetime, *, lifetime: timedelta = LEAF_LIFETIME) -> Pair:
    """A server certificate for DNS names and IP addresses, signed by the authority, never outliving it.

    ``names`` holds at least one name; ``now`` has a zone. Raises ValueError for no name, a name that is not ASCII,
    or an authority that cannot be read.
    """
    if not names:
        raise ValueError("a server certificate needs at least one name")
    signer = serialization.load_pem_private_key(authority.key, password=None)
    if not isinstance(signer, ec.EllipticCurvePrivateKey):
        raise ValueError("the authority's key is not an elliptic-curve key")  # noqa: TRY004 - the content is wrong
    issuer = x509.load_pem_x509_certificate(authority.certificate)
    key = ec.generate_private_key(ec.SECP256R1())
    identifier = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    until = min(now + lifetime, issuer.not_valid_after_utc)
    builder = (
        _unsigned(_name("gpugate"), key.public_key(), issuer.subject, now, until - now)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.KeyUsage(**{**_NO_USAGE, "digital_signature": True}), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False)
    )
    return _pair(builder.sign(signer, hashes.SHA256()), key)


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _unsigned(
    subject: x509.Name,
    public_key: ec.EllipticCurvePublicKey,
    issuer: x509.Name,
    now: datetime,
    lifetime: timedelta,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(now + lifetime)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
    )


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Pair:
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return Pair(certificate.public_bytes(serialization.Encoding.PEM), pem)
