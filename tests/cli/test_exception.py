"""`gpugate except`."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.sources.policies import read_policy
from tests.cli.conftest import Gpugate
from tests.suite.running import POD, POLICY, written

GIVEN = ("--for", "4h", "--owner", "mesh@example.com", "--reason", "INC-1")


@pytest.fixture(autouse=True)
def policies(folder: Path) -> None:
    """A folder with a policy."""
    written(folder, {"policies/p.yaml": POLICY, "pod.yaml": POD})


def today() -> datetime:
    return datetime.now(UTC)


def test_it_lets_the_violation_through(gpugate: Gpugate) -> None:
    check = ("check", "--policy", "policies", "-n", "team-b", "pod.yaml")
    assert gpugate(*check).code == 1
    day = today()
    outcome = gpugate("except", "team-b", "no-privileged", "--policy", "policies", *GIVEN)
    assert (outcome.code, outcome.out) == (0, "")
    (path,) = Path("policies").glob("except-team-b-no-privileged-*.yaml")
    assert outcome.err.startswith(f"wrote {path}\nIt holds until the end of ")
    assert "is no part of" not in outcome.err
    (exception,) = [each for each in read_policy("policies").exceptions if each.name != "mesh"]
    assert exception.name == path.stem
    assert (exception.owner, exception.reason) == ("mesh@example.com", "INC-1")
    assert day.date() <= exception.expires <= (day + timedelta(hours=5)).date()
    assert gpugate(*check).code == 0
    assert gpugate("check", "--policy", "policies", "-n", "team-c", "pod.yaml").code == 1


def test_names_are_unique(gpugate: Gpugate) -> None:
    for _ in range(3):
        assert gpugate("except", "team-b", "no-privileged", "--policy", "policies", *GIVEN).code == 0
    names = [each.name for each in read_policy("policies").exceptions]
    assert len(set(names)) == 4
    assert [name[-2:] for name in sorted(names, key=len) if name.count("-") == 6] == ["-2", "-3"]


@pytest.mark.parametrize(("duration", "days"), [("24h", 1), ("3d", 3), ("2w", 14)])
def test_how_long(gpugate: Gpugate, duration: str, days: int) -> None:
    before = today()
    text = gpugate(
        "except", "team-b", "no-privileged", "--policy", "policies", *GIVEN[2:], "--for", duration, "-o", "-"
    ).out
    expires = yaml.safe_load(text)["spec"]["exceptions"][0]["expires"]
    assert expires - before.date() in (timedelta(days=days), timedelta(days=days + 1))
    assert f"until the end of {expires} (UTC)" in text


@pytest.mark.parametrize("value", ["y", "1", "null", "a: b # c", '"', "한국어", "{}"])
def test_any_text_is_read_as_it_was_given(gpugate: Gpugate, value: str) -> None:
    options = (
        "--for",
        "1h",
        "--owner",
        value,
        "--reason",
        value,
        "--container",
        value,
        "--image",
        "x:*",
        "--image",
        value,
    )
    outcome = gpugate("except", "team-b", "no-privileged", "--policy", "policies", *options, "-o", "e.yaml")
    assert outcome.code == 0, outcome.err
    entry: Any = yaml.safe_load(Path("e.yaml").read_text(encoding="utf-8"))["spec"]["exceptions"][0]
    assert (entry["owner"], entry["reason"]) == (value, value)
    assert entry["match"] == {"namespaces": ["team-b"], "containers": [value], "images": ["x:*", value]}


def test_long_names_are_cut(gpugate: Gpugate) -> None:
    namespace = "n" * 63
    text = gpugate("except", namespace, "no-privileged", "--policy", "policies", *GIVEN, "-o", "-").out
    value = yaml.safe_load(text)
    assert len(value["metadata"]["name"]) == 63
    assert value["spec"]["exceptions"][0]["match"]["namespaces"] == [namespace]


def test_what_to_do_next(gpugate: Gpugate) -> None:
    outcome = gpugate("except", "team-b", "gpu-nodes", "--policy", "shipped", *GIVEN)
    assert "It is no part of the policy that gpugate comes with yet: --policy takes a folder" in outcome.err
    (path,) = Path().glob("except-team-b-gpu-nodes-*.yaml")
    assert outcome.err.startswith(f"wrote {path}\n")
    outcome = gpugate("except", "team-b", "no-privileged", "--policy", "policies", *GIVEN, "-o", "e.yaml")
    assert "It is no part of policies yet" in outcome.err
    assert "A running server follows the files of its policy" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("a", "no-privilegd", *GIVEN),
            "the policy has no rule or injection 'no-privilegd'; did you mean 'no-privileged'?",
        ),
        (("nb-*", "no-privileged", *GIVEN), "'nb-*' is no namespace name"),
        (
            ("a", "no-privileged", *GIVEN[2:], "--for", "0h"),
            "'0h' is no duration; write hours, days or weeks: 4h, 3d, 2w",
        ),
        (("a", "no-privileged", *GIVEN[2:], "--for", "90m"), "'90m' is no duration"),
        (("a", "no-privileged", *GIVEN[2:]), "Missing option '--for'"),
        (("a", "no-privileged", *GIVEN[:2], "--owner", " ", "--reason", "x"), "should not be empty"),
        (("a", "no-privileged", *GIVEN, "-o", "pod.yaml"), "pod.yaml exists already; name another file with -o"),
        (("a", "no-privileged", *GIVEN, "-o", "none/x.yaml"), "none/x.yaml cannot be written"),
        (("a", "no-privileged", *GIVEN, "--policy", "none"), "none:1:1: cannot be read"),
    ],
)
def test_wrong_usage(gpugate: Gpugate, arguments: tuple[str, ...], said: str) -> None:
    outcome = gpugate("except", "--policy", "policies", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
    assert sorted(path.name for path in Path().rglob("*.yaml")) == ["p.yaml", "pod.yaml"]
