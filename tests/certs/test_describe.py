"""What is said of certificates."""

from datetime import UTC, datetime, timedelta

import pytest

from app.certs import InvalidPair, issue, make_authority
from app.certs.describe import describe, problems

NOW = datetime(2026, 12, 2, 10, tzinfo=UTC)
AUTHORITY = make_authority(NOW)
LEAF = issue(AUTHORITY, ["gpugate.example.com", "127.0.0.1"], NOW)


def test_a_chain() -> None:
    leaf, authority = describe(LEAF.certificate + AUTHORITY.certificate)
    assert leaf.names == ("gpugate.example.com", "127.0.0.1")
    assert (leaf.subject, leaf.authority) == ("CN=gpugate", False)
    assert leaf.issuer == authority.subject == authority.issuer
    assert authority.authority
    assert leaf.not_after == NOW + timedelta(days=365)
    assert leaf.not_before + (leaf.not_after - leaf.not_before) * 2 / 3 - leaf.renewal < timedelta(seconds=1)
    assert len(leaf.fingerprint) == 64


def test_states() -> None:
    (leaf,) = describe(LEAF.certificate)
    states = [leaf.state(NOW + timedelta(days=days)) for days in (-1, 0, 243, 244, 365, 366)]
    assert states == ["not valid yet", "valid", "valid", "renewal due", "renewal due", "expired"]


def test_problems() -> None:
    other = make_authority(NOW)
    assert problems(LEAF.certificate, LEAF.key, AUTHORITY.certificate, NOW) == []
    assert problems(LEAF.certificate, None, None, NOW) == []
    wrong = problems(LEAF.certificate, other.key, other.certificate, NOW)
    assert wrong[0].startswith("the private key is not that of the certificate")
    assert wrong[1] == "no authority of ca.crt that is valid now has signed the certificate"
    assert problems(LEAF.certificate, None, b"nonsense", NOW) == wrong[1:]
    with pytest.raises(InvalidPair, match="not PEM"):
        describe(b"")
