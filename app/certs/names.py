"""What certificates are called: the files of a folder, which are the keys of a Secret (type kubernetes.io/tls)."""

from typing import Final

CERTIFICATE: Final = "tls.crt"
KEY: Final = "tls.key"

AUTHORITY: Final = "ca.crt"
"""The authorities to trust, the one that signs first."""

AUTHORITY_KEY: Final = "ca.key"
"""The key of the first of them. Servers never have it."""
