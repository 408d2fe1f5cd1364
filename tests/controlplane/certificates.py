"""The certificates of a control plane: one authority, which signs the server's and every client's."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFETIME = datetime.timedelta(days=1)
# A clock set back by a few minutes during a run must not make the certificates invalid.
_BACKDATED = datetime.timedelta(hours=1)
_SIGNS_CERTIFICATES = x509.KeyUsage(
    digital_signature=True,
    key_cert_sign=True,
    crl_sign=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)


class Authority:
    """A certificate authority in a directory. Any process that sees the directory can issue certificates."""

    def __init__(self, directory: Path) -> None:
        self.certificate = directory / "ca.crt"
        self._key = directory / "ca.key"
        if not self.certificate.exists():
            directory.mkdir(parents=True, exist_ok=True)
            key = ec.generate_private_key(ec.SECP256R1())
            name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "gpugate-test-ca")])
            unsigned = _unsigned(name, key.public_key(), name, key.public_key())
            unsigned = unsigned.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            unsigned = unsigned.add_extension(_SIGNS_CERTIFICATES, critical=True)
            write_once(self._key, _pem(key))
            write_once(
                self.certificate,
                unsigned.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM),
            )

    def issue_server(self) -> tuple[bytes, bytes]:
        """Certificate and key, in PEM, for a server on loopback."""
        names = x509.SubjectAlternativeName(
            [
                x509.DNSName("localhost"),
                x509.DNSName("kubernetes.default.svc"),
                x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
            ]
        )
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
        return self._issue(name, ExtendedKeyUsageOID.SERVER_AUTH, names)

    def issue_client(self, user: str, groups: Sequence[str]) -> tuple[bytes, bytes]:
        """Certificate and key, in PEM: the API server reads the user from CN and the groups from O."""
        attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        attributes.append(x509.NameAttribute(NameOID.COMMON_NAME, user))
        return self._issue(x509.Name(attributes), ExtendedKeyUsageOID.CLIENT_AUTH, None)

    def _issue(
        self, name: x509.Name, usage: x509.ObjectIdentifier, names: x509.SubjectAlternativeName | None
    ) -> tuple[bytes, bytes]:
        issuer = x509.load_pem_x509_certificate(self.certificate.read_bytes())
        signer = serialization.load_pem_private_key(self._key.read_bytes(), password=None)
        assert isinstance(signer, ec.EllipticCurvePrivateKey)
        key = ec.generate_private_key(ec.SECP256R1())
        unsigned = _unsigned(name, key.public_key(), issuer.subject, signer.public_key())
        unsigned = unsigned.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if names is not None:
            unsigned = unsigned.add_extension(names, critical=False)
        certificate = unsigned.sign(signer, hashes.SHA256())
        return certificate.public_bytes(serialization.Encoding.PEM), _pem(key)


def service_account_key() -> bytes:
    """A key for signing ServiceAccount tokens, in the PEM format that the API server takes as either half."""
    return _pem(ec.generate_private_key(ec.SECP256R1()), serialization.PrivateFormat.TraditionalOpenSSL)


def write_once(path: Path, content: bytes) -> None:
    """Writes a private file whole, unless it is there: of several processes at once the first wins."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    with contextlib.suppress(FileExistsError):
        path.hardlink_to(temporary)
    Path(temporary).unlink()


def _unsigned(
    subject: x509.Name,
    public_key: ec.EllipticCurvePublicKey,
    issuer: x509.Name,
    issuer_key: ec.EllipticCurvePublicKey,
) -> x509.CertificateBuilder:
    """With the key identifiers, without which Python 3.13 refuses a certificate."""
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(now + _LIFETIME)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key), critical=False)
    )


def _pem(
    key: ec.EllipticCurvePrivateKey,
    form: serialization.PrivateFormat = serialization.PrivateFormat.PKCS8,
) -> bytes:
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
