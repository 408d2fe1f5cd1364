"""Functions of time, at a time that is given."""

import pytest

from app.kyverno.expressions import EvaluationError, Expression
from tests.kyverno.evaluating import evaluated


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("time_now()", "2026-01-02T03:04:05Z"),
        ("time_now_utc()", "2026-01-02T03:04:05Z"),
        ("time_since('', '2026-01-01T00:00:00Z', '')", "27h4m5s"),
        ("time_since('', '2021-01-02T15:04:05-07:00', '2021-01-10T03:14:05-07:00')", "180h10m0s"),
        (
            "time_since('Mon Jan _2 15:04:05 MST 2006', 'Sat Jan  2 15:04:05 UTC 2021', 'Sun Jan 3 03:14:16 UTC 2021')",
            "12h10m11s",
        ),
        ("time_add('2021-01-02T15:04:05-07:00', '3h')", "2021-01-02T18:04:05-07:00"),
        ("time_add('2021-01-02T15:04:05Z', '-24h')", "2021-01-01T15:04:05Z"),
        ("time_parse('2006-01-02T15:04:05Z07:00', '2022-10-24T14:48:50+03:00')", "2022-10-24T14:48:50+03:00"),
        (
            "time_parse('Mon, 02 Jan 2006 15:04:05 -0700', 'Tue, 04 Oct 2022 09:12:30 +0130')",
            "2022-10-04T09:12:30+01:30",
        ),
        ("time_parse('1/2/06 3:04PM', '11/5/69 12:30AM')", "1969-11-05T00:30:00Z"),
        ("time_parse('2006-01-02', '2024-02-29')", "2024-02-29T00:00:00Z"),
        ("time_parse('January 2, 2006', 'march 9, 2024')", "2024-03-09T00:00:00Z"),
        ("time_parse('15:04:05.000', '01:02:03.500')", "0001-01-01T01:02:03Z"),
        ("time_parse('1', '1666623830')", "2022-10-24T15:03:50Z"),
        ("time_parse('0', '-1')", "1969-12-31T23:59:59Z"),
        ("time_utc('2021-01-02T15:04:05-07:00')", "2021-01-02T22:04:05Z"),
        ("time_to_cron('2022-04-11T03:14:05-07:00')", "14 3 11 4 1"),
        ("time_to_cron('2022-04-10T03:14:05Z')", "14 3 10 4 0"),
        ("time_diff('2021-01-02T15:04:05.5Z', '2021-01-02T15:04:07Z')", "1.5s"),
        ("time_diff('2021-01-02T15:04:05Z', '2021-01-02T14:04:05Z')", "-1h0m0s"),
        ("time_before('2021-01-02T15:04:05Z', '2021-01-02T15:04:05+01:00')", False),
        ("time_before('2021-01-02T15:04:05+01:00', '2021-01-02T15:04:05Z')", True),
        ("time_after('2021-01-02T15:04:05Z', '2021-01-02T15:04:05+01:00')", True),
        ("time_between('2021-01-02T12:00:00Z', '2021-01-02T11:00:00Z', '2021-01-02T13:00:00Z')", True),
        ("time_between('2021-01-02T11:00:00Z', '2021-01-02T11:00:00Z', '2021-01-02T13:00:00Z')", False),
        ("time_truncate('2021-01-02T15:34:05Z', '1h')", "2021-01-02T15:00:00Z"),
        ("time_truncate('2021-01-02T15:34:05Z', '0s')", "2021-01-02T15:34:05Z"),
        ("time_truncate('2021-01-06T15:34:05Z', '168h')", "2021-01-04T00:00:00Z"),
    ],
)
def test_the_value(expression: str, value: object) -> None:
    assert evaluated(expression) == value


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("time_utc('yesterday')", 'time_utc(): "yesterday" is no time written like "2006-01-02T15:04:05Z07:00"'),
        ("time_utc('2021-02-30T00:00:00Z')", None),
        ("time_utc('2021-01-02T00:00:00+99:00')", 'time_utc(): "+99:00" is no time zone'),
        ("time_add('2021-01-02T15:04:05Z', '1d')", 'time_add(): "1d" is no duration'),
        ("time_add('9999-12-31T23:00:00Z', '2h')", None),
        ("time_parse('1', 'now')", 'time_parse(): "now" is no whole number of seconds'),
        ("time_parse('2006 2006', '2021 2021')", 'time_parse(): "2006 2006" is no layout of a time'),
        ("time_utc(`1`)", "time_utc(): argument 1 is number, not string"),
    ],
)
def test_what_is_no_time(expression: str, message: str | None) -> None:
    with pytest.raises(EvaluationError) as caught:
        evaluated(expression)
    assert message is None or str(caught.value) == message


def test_where_the_time_is_not_known_asking_for_it_is_an_error() -> None:
    with pytest.raises(EvaluationError, match=r"^time_now\(\): the time is not known here$"):
        Expression("time_now()").search({})
