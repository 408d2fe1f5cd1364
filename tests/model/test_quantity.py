"""Quantities: tables, and a comparison with the API server's own code."""

import json
import random
import re

import pytest

from app.model.quantity import InvalidQuantity, parse, text
from tests.quantity_oracle import ask

ACCEPTED: list[tuple[object, int]] = [
    ("0", 0),
    ("1", 1_000),
    (1, 1_000),
    (1.5, 1_500),
    (1e3, 1_000_000),
    (None, 0),
    ("-1", -1_000),
    ("+1", 1_000),
    ("1.", 1_000),
    (".5", 500),
    ("007", 7_000),
    ("1500m", 1_500),
    ("1k", 1_000_000),
    ("1M", 10**9),
    ("1G", 10**12),
    ("1T", 10**15),
    ("1P", 10**18),
    ("1E", 10**21),
    ("1Ki", 1_024_000),
    ("1Mi", 1_000 * 2**20),
    ("1Gi", 1_000 * 2**30),
    ("1Ti", 1_000 * 2**40),
    ("1Pi", 1_000 * 2**50),
    ("1Ei", 1_000 * 2**60),
    ("1.5Ki", 1_536_000),
    ("1e3", 1_000_000),
    ("1E3", 1_000_000),
    ("1e+3", 1_000_000),
    ("1e-3", 1),
    ("1u", 1),  # rounded up to a thousandth
    ("1n", 1),
    ("-1n", -1),  # away from zero
    ("1.0001", 1_001),
    ("-1.0001", -1_001),
    ("0.0000", 0),
    (" 1", 1_000),  # decoding JSON trims white space
    ("1 ", 1_000),
    ("\u00a01", 1_000),
    ("8Ei", 1_000 * (2**63 - 1)),  # cut to an int64 ...
    ("-16Ei", -1_000 * (2**63 - 1)),
    ("16E", 16 * 10**21),  # ... but not without the binary suffix
    ("18446744073709551617", 18446744073709551617_000),
]

REFUSED: list[object] = [
    "",
    " ",
    "NaN",
    "Infinity",
    "inf",
    "1_000",
    "1 Gi",
    "٣",
    "1K",
    "1e3Mi",
    "1Mi3",
    "1mi",
    "1ki",
    "1kk",
    "1e",
    "1e+",
    "1e1.5",
    "1.2.3",
    "--1",
    "+-1",
    "1-",
    "0x10",
    "1,5",
    "1\n",  # an escape in JSON, which decoding a quantity does not read
    "\t1",
    "one",
    True,
    False,
    [1],
    {"a": 1},
    float("nan"),
    float("inf"),
]

# What the API server accepts and we don't: nobody means an amount by it.
WITHOUT_DIGITS = ["+", "-", ".", "-.", "m", "k", "Ki", "Ti", "e5", "+e-9"]
OUT_OF_RANGE = ["1e65", "1e-65", "1e1000", "0e100", "1" * 65, "0." + "0" * 70 + "1", "0" * 65]


@pytest.mark.parametrize(("value", "milli"), ACCEPTED)
def test_accepted(value: object, milli: int) -> None:
    assert parse(value) == milli


@pytest.mark.parametrize("value", [*REFUSED, *WITHOUT_DIGITS, *OUT_OF_RANGE], ids=repr)
def test_refused(value: object) -> None:
    with pytest.raises(InvalidQuantity):
        parse(value)


def test_a_refusal_shows_what_was_found_and_no_more_than_a_line() -> None:
    with pytest.raises(InvalidQuantity, match=r"^'1K' is not a quantity$"):
        parse("1K")
    with pytest.raises(InvalidQuantity) as raised:
        parse("1" * 10_000)
    assert len(str(raised.value)) < 120


@pytest.mark.parametrize(
    ("milli", "shown"),
    [(0, "0"), (1_000, "1"), (500, "500m"), (1_500, "1500m"), (-2_000, "-2"), (-500, "-500m"), (8_000_000, "8000")],
)
def test_text(milli: int, shown: str) -> None:
    assert text(milli) == shown
    assert parse(shown) == milli


def test_the_tables_are_what_the_api_server_says() -> None:
    accepted = [_json(value) for value, _ in ACCEPTED]
    assert list(zip(accepted, ask(accepted), strict=True)) == [(_json(value), milli) for value, milli in ACCEPTED]
    refused = [_json(value) for value in REFUSED if not isinstance(value, float)]  # JSON has no NaN
    assert list(zip(refused, ask(refused), strict=True)) == [(value, None) for value in refused]


def test_the_api_server_accepts_what_we_alone_refuse() -> None:
    assert set(ask([_json(value) for value in WITHOUT_DIGITS])) == {0}
    assert None not in ask([_json(value) for value in OUT_OF_RANGE])


def test_generated_values_are_read_as_the_api_server_reads_them() -> None:
    values = sorted({_generated(random.Random(seed)) for seed in range(12_000)})
    # With a huge exponent the API server's code computes for minutes; we refuse those, see OUT_OF_RANGE.
    values = [value for value in values if not re.search("[eE][-+]?([0-9]{3}|[5-9][0-9])", value)]
    assert len(values) > 5_000
    differences, accepted = [], 0
    for value, said in zip(values, ask(values), strict=True):
        ours = _ours(value)
        accepted += ours is not None
        if ours != said and not (ours is None and said == 0 and not re.match(r'"?\s*[-+]?\.?[0-9]', value)):
            differences.append((value, ours, said))
    assert differences == []
    assert 2_000 < accepted < len(values) - 1_000


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _ours(value: str) -> int | None:
    try:
        return parse(json.loads(value))
    except InvalidQuantity:
        return None


def _generated(rng: random.Random) -> str:
    """A JSON value: mostly a quantity, or nearly one."""
    digits = "".join(rng.choice("0000123456789") for _ in range(rng.choice((0, 1, 1, 2, 3, 5, 9, 18, 19, 20, 30))))
    fraction = "".join(rng.choice("0001259") for _ in range(rng.choice((0, 1, 3, 4, 9, 10, 12, 20))))
    number = rng.choice(("", "", "", "-", "+")) + digits + rng.choice(("", "", "." + fraction))
    exponent = rng.choice("eE") + rng.choice(("", "-", "+")) + str(rng.randint(0, 30))
    suffixes = ("", "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", exponent)
    written = number + rng.choice(suffixes)
    if rng.random() < 0.2:
        place = rng.randrange(len(written) + 1)
        written = written[:place] + rng.choice("0.-+eEikmMK_ \u00a0\u2003٣x\n\t") + written[place:]
    if rng.random() < 0.15:
        # No more digits than a double holds, as that is what JSON numbers become on their way.
        short = f"{rng.choice(('', '-'))}{rng.randint(0, 10**6)}.{rng.randint(0, 10**6)}{rng.choice(('', exponent))}"
        return rng.choice((short, str(rng.randint(-(10**25), 10**25))))
    return _json(written)
