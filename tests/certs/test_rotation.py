"""The order of a rotation, and when things are renewed."""

from datetime import UTC, datetime, timedelta

import pytest

from app.certs import InvalidPair, Pair, check_pair, issue, issued_by, make_authority
from app.certs.rotation import (
    Authority,
    Lifetimes,
    Observed,
    due,
    holds,
    merged,
    new_authority,
    new_leaf,
    next_step,
    read_authority,
    unexpired,
)

NOW = datetime(2026, 12, 2, 10, tzinfo=UTC)
NAMES = ["gpugate.gpu-system.svc", "gpugate.gpu-system"]
LIFETIMES = Lifetimes()
AUTHORITY = new_authority(b"", NOW, LIFETIMES)
LEAF = new_leaf(AUTHORITY, NAMES, NOW, LIFETIMES)
UNKNOWN = Observed(trusted=False, served=False)
KNOWN = Observed(trusted=True, served=True)


def action(
    authority: Authority | None = AUTHORITY,
    leaf: Pair | None = LEAF,
    *,
    now: datetime = NOW,
    observed: Observed = UNKNOWN,
    names: list[str] = NAMES,
) -> str:
    return next_step(authority, leaf, names, now, observed).action


def test_nothing_to_do() -> None:
    assert action() == action(observed=KNOWN) == "nothing"


def test_from_nothing() -> None:
    assert action(None, None) == "authority"
    assert action(AUTHORITY, None) == "leaf"


def test_the_steps_of_a_rotation() -> None:
    """Every pair of a certificate that may be served and a bundle that may be trusted fits, all the way."""
    asked = Observed(trusted=True, served=True, asked=True)
    assert action(observed=asked) == "authority"
    second = new_authority(AUTHORITY.bundle, NOW, LIFETIMES)
    assert issued_by(LEAF.certificate, second.bundle, NOW)
    assert not issued_by(LEAF.certificate, second.pair.certificate, NOW)
    # A second rotation that is asked for waits for the first.
    assert action(second, observed=Observed(trusted=False, served=False, asked=True)) == "wait"
    assert action(second, observed=asked) == "leaf"
    leaf = new_leaf(second, NAMES, NOW, LIFETIMES)
    assert issued_by(leaf.certificate, second.pair.certificate, NOW)
    assert action(second, leaf, observed=Observed(trusted=True, served=False, asked=True)) == "wait"
    assert action(second, leaf, observed=asked) == "drop"
    alone = Authority(second.pair)
    assert issued_by(leaf.certificate, alone.bundle, NOW)
    assert action(alone, leaf, observed=KNOWN) == "nothing"
    assert action(alone, leaf, observed=asked) == "authority"


def test_renewal_at_two_thirds() -> None:
    day = timedelta(days=1)
    assert not due(LEAF.certificate, NOW + 243 * day)
    assert due(LEAF.certificate, NOW + 244 * day)
    assert action(now=NOW + 244 * day) == "leaf"
    leaf = issue(AUTHORITY.pair, NAMES, NOW + 2400 * day)
    assert action(leaf=leaf, now=NOW + 2433 * day) == "nothing"
    assert action(leaf=leaf, now=NOW + 2434 * day) == "authority"


def test_what_cannot_serve_any_more_is_replaced_without_waiting() -> None:
    late = NOW + timedelta(days=366)
    second = new_authority(AUTHORITY.bundle, late, LIFETIMES)
    assert action(second, LEAF, now=late) == "leaf"
    other = issue(AUTHORITY.pair, NAMES, NOW)
    assert action(second, Pair(LEAF.certificate, other.key)) == "leaf"
    assert action(second, Pair(b"", b"")) == "leaf"


def test_another_name() -> None:
    step = next_step(AUTHORITY, LEAF, [*NAMES, "gpugate.example.com"], NOW, UNKNOWN)
    assert step == ("leaf", "the certificate is not for gpugate.example.com")


def test_an_old_authority_that_expired_is_dropped_whoever_uses_it() -> None:
    late = NOW + timedelta(days=3651)
    second = new_authority(b"", late, LIFETIMES)
    leaf = new_leaf(second, NAMES, late, LIFETIMES)
    assert action(second._replace(old=AUTHORITY.pair.certificate), leaf, now=late) == "drop"
    young = new_authority(b"", NOW, LIFETIMES).pair.certificate
    assert action(second._replace(old=young), leaf, now=late - timedelta(days=2)) == "leaf"


def test_a_new_authority_keeps_those_that_are_valid_and_no_others() -> None:
    gone = make_authority(NOW, lifetime=timedelta(days=1)).certificate
    later = NOW + timedelta(days=2)
    made = new_authority(gone + AUTHORITY.bundle + AUTHORITY.bundle, later, LIFETIMES)
    assert made.old == AUTHORITY.pair.certificate
    assert new_authority(b"nonsense", NOW, LIFETIMES).old == b""


def test_read_authority() -> None:
    second = new_authority(AUTHORITY.bundle, NOW, LIFETIMES)
    read = read_authority(second.bundle, second.pair.key, NOW)
    assert read == second
    leaf = new_leaf(read, NAMES, NOW, LIFETIMES)
    assert check_pair(leaf.certificate, leaf.key, NOW).covers(NAMES[0])
    expired = NOW + timedelta(days=3651)
    for bundle, key, now, reason in (
        (b"", second.pair.key, NOW, "not PEM"),
        (second.bundle, b"", NOW, "key is not PEM"),
        (second.bundle, AUTHORITY.pair.key, NOW, "not that of the certificate"),
        (second.bundle, second.pair.key, expired, "not valid now, but until 2036-11-29"),
    ):
        with pytest.raises(InvalidPair, match=reason):
            read_authority(bundle, key, now)


def test_bundles() -> None:
    first, second = AUTHORITY.pair.certificate, make_authority(NOW).certificate
    assert merged(first, b"", second + first) == first + second
    assert unexpired(first + second, NOW) == first + second
    assert holds(first + second, second)
    assert not holds(first, second + first)
    assert not holds(b"", first)
