"""Certificates that the server makes for itself, for use on one machine."""

import os
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path

from app.certs import InvalidPair, Pair, check_pair, issue, issued_by, make_authority
from app.certs.names import AUTHORITY, AUTHORITY_KEY, CERTIFICATE, KEY

_NAMES = ("localhost", "127.0.0.1", "::1")


def ensure_certificates(folder: Path, host: str | None) -> str | None:
    """Make authority and server certificate in the folder, or what of them is missing, expired or for another host.

    Returns what was made, in words for people, or None if all was there. A certificate of somebody else's authority
    is never overwritten: raises InvalidPair if it cannot serve. Raises OSError.
    """
    now = datetime.now(UTC)
    names = [*_NAMES, *([host] if host and host not in _NAMES and not _unspecified(host) else [])]
    ours = (folder / AUTHORITY_KEY).exists()
    if not ours and (folder / CERTIFICATE).exists():
        check_pair((folder / CERTIFICATE).read_bytes(), (folder / KEY).read_bytes(), now)
        return None
    authority = _authority(folder, now) if ours else None
    made = "a new certificate"
    if authority is None:
        authority, made = make_authority(now), "a certificate authority and a certificate"
        write_file(folder, AUTHORITY_KEY, authority.key, secret=True)
        write_file(folder, AUTHORITY, authority.certificate)
    elif _serves(folder, authority, names, now):
        return None
    leaf = issue(authority, names, now)
    write_file(folder, KEY, leaf.key, secret=True)
    write_file(folder, CERTIFICATE, leaf.certificate)
    return made


def _authority(folder: Path, now: datetime) -> Pair | None:
    """The authority of the folder, if it can still sign."""
    try:
        pair = Pair((folder / AUTHORITY).read_bytes(), (folder / AUTHORITY_KEY).read_bytes())
        usable = issued_by(pair.certificate, pair.certificate, now) and issue(pair, _NAMES, now)
    except (FileNotFoundError, ValueError):
        return None
    return pair if usable else None


def _serves(folder: Path, authority: Pair, names: list[str], now: datetime) -> bool:
    try:
        certificate, key = (folder / CERTIFICATE).read_bytes(), (folder / KEY).read_bytes()
        leaf = check_pair(certificate, key, now)
        return issued_by(certificate, authority.certificate, now) and all(map(leaf.covers, names))
    except (FileNotFoundError, InvalidPair):
        return False


def _unspecified(host: str) -> bool:
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return False


def write_file(folder: Path, name: str, content: bytes, *, secret: bool = False) -> None:
    """Write a file whole: a reader sees the old content or the new."""
    if not folder.exists():
        folder.mkdir(parents=True)
        (folder / ".gitignore").write_text("*\n")
    temporary = folder / f".{name}.{os.getpid()}"
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600 if secret else 0o644), "wb") as file:
        file.write(content)
    temporary.replace(folder / name)
