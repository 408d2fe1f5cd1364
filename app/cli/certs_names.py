"""Names that a certificate can be for, as an option."""

import re
from ipaddress import ip_address
from typing import Any, Final

import click

_DNS_NAME: Final = re.compile(r"(\*\.)?[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*")
_LONGEST: Final = 253


class ServerName(click.ParamType[str]):
    """A DNS name, which may begin with ``*.``, or an IP address."""

    name = "NAME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name in small letters."""
        text = str(value).lower()
        try:
            return str(ip_address(text))
        except ValueError:
            if not _DNS_NAME.fullmatch(text) or len(text) > _LONGEST:
                self.fail(f"{value!r} is no DNS name and no IP address", param, ctx)
            return text
