"""The certificate files of a folder: ca.crt, ca.key, tls.crt, tls.key."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.certs.names import AUTHORITY, AUTHORITY_KEY, CERTIFICATE, KEY

if TYPE_CHECKING:
    from app.certs import Pair
    from app.certs.rotation import Authority


class Folder:
    """Reads and writes the files; what is wrong with them is a click.ClickException that names the file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, name: str) -> bytes | None:
        """A file's content; None if there is no such file."""
        try:
            return (self.path / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise click.ClickException(f"{self.path / name} cannot be read: {error.strerror}") from error

    def leaf(self) -> "Pair | None":
        """The server's certificate and key; None if one is missing."""
        from app.certs import Pair

        certificate, key = self.read(CERTIFICATE), self.read(KEY)
        return None if certificate is None or key is None else Pair(certificate, key)

    def authority(self, now: datetime) -> "Authority | None":
        """The authority; None if the folder has no key of one, or all are past their end. Another that cannot sign is
        an error."""
        from app.certs import InvalidPair
        from app.certs.rotation import read_authority, unexpired

        bundle, key = self.read(AUTHORITY), self.read(AUTHORITY_KEY)
        if key is None:
            if bundle is not None:
                raise click.ClickException(
                    f"{self.path / AUTHORITY_KEY} is missing: the authority of {AUTHORITY} there is somebody else's, "
                    "who has to renew it"
                )
            return None
        if bundle and b"CERTIFICATE" in bundle and not unexpired(bundle, now):
            return None
        try:
            return read_authority(bundle or b"", key, now)
        except InvalidPair as error:
            raise click.ClickException(f"{self.path / AUTHORITY} and {AUTHORITY_KEY}: {error}") from error

    def write_authority(self, authority: "Authority") -> None:
        """The key first: a bundle whose first certificate has no key would be somebody else's."""
        self._write(AUTHORITY_KEY, authority.pair.key, secret=True)
        self._write(AUTHORITY, authority.bundle)

    def write_leaf(self, leaf: "Pair") -> None:
        """The pair."""
        self._write(KEY, leaf.key, secret=True)
        self._write(CERTIFICATE, leaf.certificate)

    def _write(self, name: str, content: bytes, *, secret: bool = False) -> None:
        from app.server.dev import write_file

        try:
            write_file(self.path, name, content, secret=secret)
        except OSError as error:
            raise click.ClickException(f"{self.path / name} cannot be written: {error.strerror}") from error
