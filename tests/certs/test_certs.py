from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509 import DNSName
from cryptography.x509.oid import ExtendedKeyUsageOID
from cryptography.x509.verification import PolicyBuilder, Store

from app.certs import InvalidPair, Pair, check_pair, issue, issued_by, make_authority

NOW = datetime(2026, 12, 2, 10, tzinfo=UTC)
NAMES = ["localhost", "127.0.0.1", "::1", "gpugate.gpugate-system.svc"]
AUTHORITY = make_authority(NOW)
PAIR = issue(AUTHORITY, NAMES, NOW)


def test_a_strict_verifier_accepts_it() -> None:
    store = Store([x509.load_pem_x509_certificate(AUTHORITY.certificate)])
    verifier = PolicyBuilder().store(store).time(NOW).build_server_verifier(DNSName("gpugate.gpugate-system.svc"))
    chain = verifier.verify(x509.load_pem_x509_certificate(PAIR.certificate), [])
    assert len(chain) == 2


def test_what_the_leaf_says() -> None:
    leaf = check_pair(PAIR.certificate, PAIR.key, NOW)
    assert set(leaf.names) == set(NAMES)
    assert leaf.not_after == NOW + timedelta(days=365)
    certificate = x509.load_pem_x509_certificate(PAIR.certificate)
    usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.SERVER_AUTH]
    assert not certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_names() -> None:
    leaf = check_pair(PAIR.certificate, PAIR.key, NOW)
    assert leaf.covers("127.0.0.1")
    assert not leaf.covers("127.0.0.2")
    wild = issue(AUTHORITY, ["*.example.com"], NOW)
    assert check_pair(wild.certificate, wild.key, NOW).covers("a.example.com")
    assert not check_pair(wild.certificate, wild.key, NOW).covers("a.b.example.com")
    with pytest.raises(ValueError, match="at least one name"):
        issue(AUTHORITY, [], NOW)


def test_a_leaf_does_not_outlive_its_authority() -> None:
    authority = make_authority(NOW, lifetime=timedelta(days=10))
    leaf = issue(authority, NAMES, NOW)
    assert check_pair(leaf.certificate, leaf.key, NOW).not_after == NOW + timedelta(days=10)


def test_issued_by() -> None:
    other = make_authority(NOW)
    assert issued_by(PAIR.certificate, AUTHORITY.certificate, NOW)
    assert issued_by(PAIR.certificate, other.certificate + AUTHORITY.certificate, NOW)
    assert not issued_by(PAIR.certificate, other.certificate, NOW)
    assert not issued_by(PAIR.certificate, AUTHORITY.certificate, NOW + timedelta(days=4000))
    assert not issued_by(PAIR.certificate + other.certificate, other.certificate, NOW)
    assert issued_by(PAIR.certificate + AUTHORITY.certificate, AUTHORITY.certificate, NOW)


@pytest.mark.parametrize(
    ("certificate", "key", "now", "reason"),
    [
        (b"", PAIR.key, NOW, "not PEM"),
        (b"hello", PAIR.key, NOW, "not PEM"),
        (PAIR.certificate, b"hello", NOW, "not PEM"),
        (PAIR.certificate, AUTHORITY.key, NOW, "not that of the certificate"),
        (PAIR.certificate, PAIR.key, NOW + timedelta(days=366), "expired on 2027-12-02"),
        (PAIR.certificate, PAIR.key, NOW - timedelta(days=1), "not valid before 2026-12-02"),
        (AUTHORITY.certificate, AUTHORITY.key, NOW, "subjectAltName"),
    ],
)
def test_pairs_that_cannot_serve(certificate: bytes, key: bytes, now: datetime, reason: str) -> None:
    with pytest.raises(InvalidPair, match=reason):
        check_pair(certificate, key, now)


def test_a_key_with_a_passphrase() -> None:
    private = serialization.load_pem_private_key(PAIR.key, None)
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    locked = private.private_bytes(*form, serialization.BestAvailableEncryption(b"secret"))
    with pytest.raises(InvalidPair, match="encrypted"):
        check_pair(PAIR.certificate, locked, NOW)


def test_a_certificate_for_clients() -> None:
    pair = _client_certificate()
    with pytest.raises(InvalidPair, match="serverAuth"):
        check_pair(pair.certificate, pair.key, NOW)


def _client_certificate() -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([])
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(NOW)
        .not_valid_after(NOW + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([DNSName("a")]), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
    )
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    certificate = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    return Pair(certificate, key.private_bytes(*form))
