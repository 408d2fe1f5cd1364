"""`gpugate certs`: files by hand. Asking the keeper is in tests/keeper."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.certs import Pair, check_pair, issue, issued_by, make_authority
from app.certs.rotation import Authority
from app.cli.certs_files import Folder
from tests.cli.conftest import Gpugate

CERTS = Path("certs")


def now() -> datetime:
    return datetime.now(UTC)


def pair() -> Pair:
    return Pair((CERTS / "tls.crt").read_bytes(), (CERTS / "tls.key").read_bytes())


def bundle() -> bytes:
    return (CERTS / "ca.crt").read_bytes()


@pytest.fixture
def made(gpugate: Gpugate) -> None:
    outcome = gpugate("certs", "make", "certs", "--name", "gpugate.example.com", "--name", "10.0.0.5")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == "made an authority and a certificate for gpugate.example.com, 10.0.0.5 in certs\n"


def test_make(made: None, gpugate: Gpugate) -> None:
    leaf = check_pair(*pair(), now())
    assert leaf.names == ("gpugate.example.com", "10.0.0.5")
    assert issued_by(pair().certificate, bundle(), now())
    for name in ("ca.key", "tls.key"):
        assert (CERTS / name).stat().st_mode & 0o077 == 0
    again = gpugate("certs", "make", "certs", "--name", "x")
    assert again.code == 2
    assert "holds a certificate already" in again.err


def test_make_signs_with_the_authority_that_is_there(made: None, gpugate: Gpugate) -> None:
    before = bundle()
    (CERTS / "tls.crt").unlink()
    assert gpugate("certs", "make", "certs", "--name", "a", "--days", "30").out == "made a certificate for a in certs\n"
    assert bundle() == before
    assert check_pair(*pair(), now()).not_after - now() < timedelta(days=31)


@pytest.mark.parametrize("name", ["", "a b", "-a", "a_b", "https://a", "1.2.3.4/8", "a" * 64, "ä.example.com"])
def test_a_name_that_is_none(gpugate: Gpugate, name: str) -> None:
    outcome = gpugate("certs", "make", "certs", "--name", name)
    assert outcome.code == 2
    assert "is no DNS name and no IP address" in outcome.err
    assert not CERTS.exists()


def test_the_three_steps_of_a_rotation(made: None, gpugate: Gpugate) -> None:
    first, leaf = bundle(), pair()
    assert "Let the API servers trust both" in gpugate("certs", "rotate", "certs").out
    both = bundle()
    assert both.endswith(first)
    assert pair() == leaf
    assert "Let every server have it" in gpugate("certs", "rotate", "certs").out
    assert issued_by(pair().certificate, both.removesuffix(first), now())
    assert bundle() == both
    assert check_pair(*pair(), now()).names == ("gpugate.example.com", "10.0.0.5")
    assert "the old authority is gone" in gpugate("certs", "rotate", "certs").out
    assert bundle() == both.removesuffix(first)
    assert gpugate("certs", "inspect", "certs").code == 0


def test_a_new_certificate_alone(made: None, gpugate: Gpugate) -> None:
    first, leaf = bundle(), pair()
    assert "of the same authority" in gpugate("certs", "rotate", "--leaf", "certs").out
    assert bundle() == first
    assert pair() != leaf
    assert issued_by(pair().certificate, first, now())


def test_a_folder_that_expired_starts_anew(gpugate: Gpugate) -> None:
    files, past = Folder(CERTS), now() - timedelta(days=20)
    authority = make_authority(past, lifetime=timedelta(days=10))
    files.write_authority(Authority(authority))
    files.write_leaf(issue(authority, ["a.example.com"], past))
    inspected = gpugate("certs", "inspect", "certs")
    assert inspected.code == 1
    assert "wrong: certs/tls.crt: the certificate expired on" in inspected.out
    gpugate("certs", "rotate", "certs")
    gpugate("certs", "rotate", "certs")
    assert gpugate("certs", "inspect", "certs").code == 0
    assert bundle().count(b"BEGIN") == 1


def test_what_cannot_be_rotated(made: None, gpugate: Gpugate) -> None:
    assert "either FOLDER or --namespace" in gpugate("certs", "rotate").err
    assert "either FOLDER or --namespace" in gpugate("certs", "rotate", "certs", "--namespace", "a").err
    assert "--leaf is about FOLDER" in gpugate("certs", "rotate", "--leaf", "--namespace", "a").err
    key = (CERTS / "ca.key").read_bytes()
    (CERTS / "ca.key").write_bytes(pair().key)
    broken = gpugate("certs", "rotate", "certs")
    assert (broken.code, broken.out) == (2, "")
    assert "certs/ca.crt and ca.key: the private key is not that of the certificate" in broken.err
    (CERTS / "ca.key").unlink()
    assert "the authority of ca.crt there is somebody else's" in gpugate("certs", "rotate", "certs").err
    (CERTS / "ca.key").write_bytes(key)
    (CERTS / "tls.crt").write_bytes(b"nonsense")
    assert "certs/tls.crt: the certificate is not PEM" in gpugate("certs", "rotate", "certs").err
    (CERTS / "tls.crt").unlink()
    assert "`gpugate certs make certs` makes them" in gpugate("certs", "rotate", "certs").err


def test_inspect_text_and_json(made: None, gpugate: Gpugate) -> None:
    lines = gpugate("certs", "inspect", "certs").out.splitlines()
    assert lines[0] == "certs/tls.crt: CN=gpugate, for gpugate.example.com, 10.0.0.5"
    assert lines[3].startswith("  renewal    ")
    assert lines[3].endswith(" UTC (valid)")
    assert lines[5].startswith("certs/ca.crt: CN=gpugate-ca-")
    assert lines[5].endswith(", authority")
    found = gpugate("certs", "inspect", "-o", "json", "certs").json()
    assert (found["version"], found["problems"]) == (1, [])
    assert [each["file"] for each in found["certificates"]] == ["certs/tls.crt", "certs/ca.crt"]
    assert found["certificates"][0]["names"] == ["gpugate.example.com", "10.0.0.5"]
    assert [each["authority"] for each in found["certificates"]] == [False, True]
    one = gpugate("certs", "inspect", "-o", "json", "certs/ca.crt").json()
    assert [each["state"] for each in one["certificates"]] == ["valid"]


def test_inspect_says_what_is_wrong(made: None, gpugate: Gpugate) -> None:
    (CERTS / "ca.crt").write_bytes(make_authority(now()).certificate)
    outcome = gpugate("certs", "inspect", "certs")
    assert outcome.code == 1
    assert outcome.out.endswith(
        "wrong: certs/tls.crt: no authority of ca.crt that is valid now has signed the certificate\n"
    )
    (CERTS / "tls.key").write_bytes(b"nonsense")
    assert "wrong: certs/tls.crt: the private key is not PEM" in gpugate("certs", "inspect", "certs").out
    Path("empty").mkdir()
    assert gpugate("certs", "inspect", "empty").code == 2
    Path("plain.txt").write_text("hello")
    outcome = gpugate("certs", "inspect", "plain.txt")
    assert (outcome.code, outcome.out) == (
        1,
        "wrong: plain.txt: the certificate is not PEM: expected -----BEGIN CERTIFICATE-----\n",
    )
    assert gpugate("certs", "inspect", "missing").code == 2
