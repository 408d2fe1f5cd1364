"""Keys and certificates of the webhook server. No I/O and no clock: PEM in, PEM out, the time is a parameter."""

from app.certs.check import InvalidPair, Leaf, check_pair, issued_by
from app.certs.issue import Pair, issue, make_authority

__all__ = ["InvalidPair", "Leaf", "Pair", "check_pair", "issue", "issued_by", "make_authority"]
