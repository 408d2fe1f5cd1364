"""TLS: the certificate files, and contexts that change without closing a connection or a listener."""

import ssl
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from app.certs import InvalidPair, Leaf, check_pair, issued_by
from app.certs.names import AUTHORITY, CERTIFICATE, KEY
from app.server.watch import Watch


class LoadedPair(NamedTuple):
    """A checked pair: what its certificate says, and the context that serves with it."""

    leaf: Leaf
    context: ssl.SSLContext


class Certificates:
    """The pair of a folder, in use as ``current``.

    ``context`` is for the listener and stays the same; each handshake takes that of the current pair, which is
    replaced in one assignment. (Loading a bad pair into a live context breaks it for good.)
    What stays on the outer context cannot change without a restart: protocol versions, ciphers, and whether clients
    need a certificate. They do if there is a ``client_ca``, a file of the authorities that sign theirs; it is followed.
    """

    def __init__(self, folder: Path, client_ca: Path | None = None) -> None:
        """Load the pair; raises InvalidPair, or OSError for a file that cannot be read."""
        self.folder = folder
        self.client_ca = client_ca
        self.watch = Watch(lambda: (folder / CERTIFICATE, folder / KEY, *([client_ca] if client_ca else [])))
        self.current = self.load()
        self.context = self._context()
        self.context.sni_callback = self._choose

    def load(self) -> LoadedPair:
        """The pair that the folder holds now, if it can serve; raises as the constructor does."""
        # Both files of a mounted Secret are links into one folder that is swapped: take both from the same one.
        certificate = (self.folder / CERTIFICATE).resolve(strict=True)
        key = (self.folder / KEY).resolve(strict=True)
        leaf = check_pair(certificate.read_bytes(), key.read_bytes(), datetime.now(UTC))
        context = self._context()
        try:
            context.load_cert_chain(certificate, key)
        except ssl.SSLError as error:
            raise InvalidPair(f"OpenSSL does not take the pair: {error.reason}") from error
        if self.client_ca:
            self._trust(context, self.client_ca)
        return LoadedPair(leaf, context)

    def _trust(self, context: ssl.SSLContext, authorities: Path) -> None:
        """Take clients' certificates of these authorities, and no others."""
        try:
            context.load_verify_locations(cadata=authorities.read_text("ascii"))
        except (ValueError, ssl.SSLError) as error:
            raise InvalidPair(f"{authorities} holds no certificates in PEM") from error

    def trusted(self) -> bool | None:
        """Whether ``ca.crt`` leads to the certificate; None if the folder has no ``ca.crt``."""
        try:
            authorities = (self.folder / AUTHORITY).read_bytes()
        except FileNotFoundError:
            return None
        try:
            return issued_by((self.folder / CERTIFICATE).read_bytes(), authorities, datetime.now(UTC))
        except InvalidPair:
            return False

    def _choose(self, connection: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:  # noqa: ARG002
        connection.context = self.current.context

    def _context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        # API servers offer HTTP/2 to webhooks on loopback; elsewhere they speak HTTP/1.1 only.
        context.set_alpn_protocols(["http/1.1"])
        if self.client_ca:
            context.verify_mode = ssl.CERT_REQUIRED
        return context
