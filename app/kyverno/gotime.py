"""Points in time, read and written as Go does. Source: Go's package time, format.go."""

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import Any, Final, NamedTuple

from app.kyverno.values import NANO

RFC3339: Final = "2006-01-02T15:04:05Z07:00"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# Go truncates from the year 1 on.
_BEFORE_EPOCH: Final = 62_135_596_800 * NANO

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LONG_MONTHS: Final = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAYS: Final = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_SHORT_DAYS: Final = "mon|tue|wed|thu|fri|sat|sun"
_FRACTION: Final = r"(?:[.,](?P<fraction>\d+))?"


class Moment(NamedTuple):
    """Nanoseconds since 1970 in UTC, and the seconds that the clock on the wall is ahead of it."""

    nano: int
    offset: int = 0

    def local(self) -> datetime:
        """The time on the wall, without fractions of a second; OverflowError outside of the years 1 to 9999."""
        zone = timezone(timedelta(seconds=self.offset))
        return (_EPOCH + timedelta(seconds=self.nano // NANO)).astimezone(zone)

    def __str__(self) -> str:
        """By RFC 3339, without fractions of a second."""
        local = self.local()
        said = f"{local.year:04}-{local:%m-%dT%H:%M:%S}"
        if not self.offset:
            return said + "Z"
        sign, minutes = ("-" if self.offset < 0 else "+"), abs(self.offset) // 60
        return f"{said}{sign}{minutes // 60:02}:{minutes % 60:02}"

    def truncated(self, step: int) -> "Moment":
        """Rounded down to a multiple of the step, counted from the year 1."""
        return self if step <= 0 else self._replace(nano=self.nano - (self.nano + _BEFORE_EPOCH) % step)


def moment(found: datetime) -> Moment:
    """The moment of a time that knows its zone."""
    since = found - _EPOCH
    offset = found.utcoffset() or timedelta()
    return Moment((since.days * 86_400 + since.seconds) * NANO + since.microseconds * 1000, int(offset.total_seconds()))


def parse(layout: str, text: str) -> Moment:
    """The moment that the text says in a layout that is written as Go's reference time; ValueError if it is none."""
    match = _compiled(layout).fullmatch(text)
    if match is None:
        raise ValueError(f'"{text}" is no time written like "{layout}"')
    found = match.groupdict()
    year = int(found.get("year") or found.get("short_year") or 1)
    if found.get("short_year"):
        year += 1900 if year >= 69 else 2000
    hour = int(found.get("hour") or 0)
    if found.get("half"):
        hour = hour % 12 + (12 if found["half"].lower() == "pm" else 0)
    wall = datetime(
        year,
        _month(found),
        int(found.get("day") or 1),
        hour,
        int(found.get("minute") or 0),
        int(found.get("second") or 0),
        tzinfo=UTC,
    )
    fraction = int((found.get("fraction") or "0")[:9].ljust(9, "0"))
    offset = _offset(found.get("zone") or "")
    return Moment(moment(wall).nano + fraction - offset * NANO, offset)


def _month(found: dict[str, Any]) -> int:
    name = found.get("month_name")
    return _MONTHS.index(name[:3].lower()) + 1 if name else int(found.get("month") or 1)


def _offset(zone: str) -> int:
    digits = zone[1:].replace(":", "")
    if not zone or not digits.isdigit():
        return 0
    seconds = int(digits[:2]) * 3600 + int(digits[2:4] or 0) * 60
    if int(digits[:2]) > 24 or int(digits[2:4] or 0) > 59:
        raise ValueError(f'"{zone}" is no time zone')
    return -seconds if zone[0] == "-" else seconds


# The parts of the reference time, longest first, and what stands in their place.
_PARTS: Final[list[tuple[str, str]]] = [
    ("January", f"(?P<month_name>(?i:{_LONG_MONTHS}))"),
    ("Monday", f"(?i:{_DAYS})"),
    ("2006", r"(?P<year>\d{4})"),
    ("Z07:00", r"(?P<zone>Z|[+-]\d\d:\d\d)"),
    ("-07:00", r"(?P<zone>[+-]\d\d:\d\d)"),
    ("Z0700", r"(?P<zone>Z|[+-]\d{4})"),
    ("-0700", r"(?P<zone>[+-]\d{4})"),
    ("Jan", f"(?P<month_name>(?i:{'|'.join(_MONTHS)}))"),
    ("Mon", f"(?i:{_SHORT_DAYS})"),
    ("MST", r"[A-Z]{3,5}|[+-]\d\d"),
    ("Z07", r"(?P<zone>Z|[+-]\d\d)"),
    ("-07", r"(?P<zone>[+-]\d\d)"),
    ("_2", r"(?P<day> ?\d{1,2})"),
    ("15", r"(?P<hour>\d\d?)"),
    ("01", r"(?P<month>\d\d)"),
    ("02", r"(?P<day>\d\d)"),
    ("03", r"(?P<hour>\d\d)"),
    ("04", r"(?P<minute>\d\d)"),
    ("05", rf"(?P<second>\d\d){_FRACTION}"),
    ("06", r"(?P<short_year>\d\d)"),
    ("PM", "(?P<half>AM|PM)"),
    ("pm", "(?P<half>am|pm)"),
    ("1", r"(?P<month>\d\d?)"),
    ("2", r"(?P<day>\d\d?)"),
    ("3", r"(?P<hour>\d\d?)"),
    ("4", r"(?P<minute>\d\d?)"),
    ("5", rf"(?P<second>\d\d?){_FRACTION}"),
]
_LAYOUT: Final = re.compile("|".join(re.escape(part) for part, _ in _PARTS) + r"|(?<=5)[.,](?:0+|9+)(?!\d)")


@lru_cache(maxsize=64)
def _compiled(layout: str) -> re.Pattern[str]:
    """The layout as an expression; ValueError for one that names a part twice."""
    parts = dict(_PARTS)
    position, pattern = 0, ""
    for match in _LAYOUT.finditer(layout):
        # Fractions of a second may always be there, so their place in the layout says no more.
        pattern += re.escape(layout[position : match.start()]) + f"(?:{parts.get(match[0], '')})"
        position = match.end()
    try:
        return re.compile(pattern + re.escape(layout[position:]), re.ASCII)
    except re.error:
        raise ValueError(f'"{layout}" is no layout of a time') from None
