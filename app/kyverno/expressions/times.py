"""Functions of time that Kyverno adds. What is now is given, not looked up."""

import re
from datetime import datetime
from typing import Final

from app.kyverno import gotime
from app.kyverno.expressions.errors import EvaluationError
from app.kyverno.expressions.functions import declared
from app.kyverno.gotime import RFC3339, Moment, moment
from app.kyverno.values import NANO, duration, duration_text

_WHOLE: Final = re.compile(r"[+-]?\d{1,18}", re.ASCII)


@declared(timed=True)
def time_now(now: datetime | None) -> str:
    """The time, in UTC."""
    return str(_now(now))


@declared(timed=True)
def time_now_utc(now: datetime | None) -> str:
    """The time, in UTC."""
    return str(_now(now))


@declared("string", "string", "string", timed=True)
def time_since(now: datetime | None, layout: str, start: str, end: str) -> str:
    """How long it was from one time to the other, or to now if that is empty."""
    first = gotime.parse(layout or RFC3339, start)
    last = gotime.parse(layout or RFC3339, end) if end else _now(now)
    return duration_text(last.nano - first.nano)


@declared("string", "string")
def time_add(time: str, span: str) -> str:
    """The time so much later."""
    at = _time(time)
    return str(at._replace(nano=at.nano + _duration(span)))


@declared("string", "string")
def time_parse(layout: str, text: str) -> str:
    """The time by RFC 3339; a layout that is a number means seconds since 1970."""
    if _WHOLE.fullmatch(layout):
        if not _WHOLE.fullmatch(text):
            raise EvaluationError(f'"{text}" is no whole number of seconds')
        return str(Moment(int(text) * NANO))
    return str(gotime.parse(layout, text))


@declared("string")
def time_utc(time: str) -> str:
    """The same time in UTC."""
    return str(_time(time)._replace(offset=0))


@declared("string")
def time_to_cron(time: str) -> str:
    """The time as a cron expression."""
    at = _time(time).local()
    return f"{at.minute} {at.hour} {at.day} {at.month} {at.isoweekday() % 7}"


@declared("string", "string")
def time_diff(start: str, end: str) -> str:
    """How long it is from one time to the other."""
    return duration_text(_time(end).nano - _time(start).nano)


@declared("string", "string")
def time_before(time: str, limit: str) -> bool:
    """Whether a time is before another."""
    return _time(time).nano < _time(limit).nano


@declared("string", "string")
def time_after(time: str, limit: str) -> bool:
    """Whether a time is after another."""
    return _time(time).nano > _time(limit).nano


@declared("string", "string", "string")
def time_between(time: str, start: str, end: str) -> bool:
    """Whether a time is between two others, and neither of them."""
    return _time(start).nano < _time(time).nano < _time(end).nano


@declared("string", "string")
def time_truncate(time: str, span: str) -> str:
    """The time rounded down to a multiple of the duration."""
    return str(_time(time).truncated(_duration(span)))


def _now(now: datetime | None) -> Moment:
    if now is None:
        raise EvaluationError("the time is not known here")
    return moment(now)


def _time(text: str) -> Moment:
    return gotime.parse(RFC3339, text)


def _duration(text: str) -> int:
    found = duration(text)
    if found is None:
        raise EvaluationError(f'"{text}" is no duration')
    return found
