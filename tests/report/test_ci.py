"""GitHub's annotations, GitLab's code quality and JUnit, each read as its reader does."""

import json
import re
from typing import Any
from xml.etree import ElementTree

import pytest

from app.documents import Region
from app.report.results import InputError, Style
from tests.report import samples
from tests.report.conftest import Golden
from tests.report.samples import judged, placed, pod, report

HOSTILE = "50%: a,b\r::error::x\n]]> <&\"' \x1b[0m \ud800"


def deny(number: int = 0, line: int = 7, message: str = "wrong") -> Any:
    found = placed("deny", message, at=Region(line, 50, line, 51), pointer=f"/spec/containers/{number}/x")
    return judged(pod(found, allowed=False))


def warn(number: int = 0) -> Any:
    return judged(pod(placed("warn", f"careful {number}", at=Region(1, 1, 2, 2))))


# GitHub


def annotations(text: str) -> tuple[list[tuple[str, dict[str, str], str]], list[str]]:
    """The commands in a log as the runner reads them (actions/runner ActionCommand), and the other lines."""
    commands, others = [], []
    for line in text.split("\n")[:-1]:
        if line.startswith("::"):
            head, message = line[2:].split("::", 1)
            name, _, listed = head.partition(" ")
            properties = dict(each.split("=", 1) for each in listed.split(","))
            commands.append((name, {key: unescaped(value) for key, value in properties.items()}, unescaped(message)))
        else:
            others.append(line)
    return commands, others


def unescaped(text: str) -> str:
    for escape, letter in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, letter)
    return text


def test_annotations(golden: Golden) -> None:
    text = report("github")
    golden("github.txt", text)
    commands, others = annotations(text)
    assert others == []
    assert [name for name, _, _ in commands] == ["error"] * 4 + ["warning"] * 3 + ["notice"]
    assert not any("known" in message for _, _, message in commands)
    _, properties, message = commands[2]
    assert properties == {
        "file": "k8s/a.yaml", "line": "7", "endLine": "7", "col": "50", "endColumn": "51", "title": "p/no-privileged",
    }  # fmt: skip
    assert message.startswith('Deployment team-a/trainer: container "a": request 6 is not its limit 8 (see https://')
    assert "col" not in commands[-1][1]


def test_an_annotation_cannot_be_broken_out_of() -> None:
    style = Style(path=lambda name: "a,b:c%\r\n.yaml")
    text = report("github", style, [deny(message=HOSTILE)])
    commands, others = annotations(text)
    assert others == []
    assert commands[2][1]["file"] == "a,b:c%\r\n.yaml"
    assert commands[2][2] == "Deployment team-a/trainer: 50%: a,b ::error::x ]]> <&\"'  [0m  "


def test_ten_annotations_of_a_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = [InputError("x.yaml", n, 1, f"error {n}") for n in range(1, 4)]
    monkeypatch.setattr(samples, "ERRORS", errors)
    objects = [each for n in range(12) for each in (warn(n), deny(message=f"wrong {n}"))]
    commands, others = annotations(report("github", objects=objects))
    assert [message.rpartition(": ")[2] for name, _, message in commands if name == "error"] == [
        *(f"error {n}" for n in range(1, 4)),
        *(f"wrong {n}" for n in range(7)),
    ]
    assert [name for name, _, _ in commands] == ["error"] * 10 + ["warning"] * 10
    assert others == ["and 5 more of level error, 2 more of level warning: GitHub shows 10 of each; -o text lists all"]


# GitLab


def quality(*objects: Any, style: Style = Style()) -> Any:  # noqa: B008
    return json.loads(report("gitlab", style, list(objects) or samples.OBJECTS))


def test_code_quality(golden: Golden) -> None:
    golden("gitlab.json", report("gitlab"))
    found = quality()
    for each in found:
        assert set(each) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert re.fullmatch("[0-9a-f]{32}", each["fingerprint"])
        assert each["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert not each["location"]["path"].startswith(("/", "./"))
        assert each["location"]["lines"]["begin"] >= 1
    assert [each["severity"] for each in found] == [
        "critical", "minor", "info", "minor", "minor", "info", "critical", "blocker", "blocker",
    ]  # fmt: skip
    assert len({each["fingerprint"] for each in found}) == len(found)


def test_a_fingerprint_survives_what_changes_around_the_finding() -> None:
    (before, *_) = quality(deny(number=0, line=7))
    (after, *_) = quality(deny(number=1, line=99, message="the same in other words"))
    assert before["fingerprint"] == after["fingerprint"]
    assert before["location"] != after["location"]


def test_fingerprints_tell_findings_apart() -> None:
    found = quality(deny(), deny(), judged(*deny().pods, name="other"), judged(*deny().pods, namespace="other"))
    assert len({each["fingerprint"] for each in found}) == len(found) == 6


def test_no_findings_are_an_empty_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "ERRORS", [])
    assert quality(judged(pod())) == []


# JUnit


def suites(text: str) -> Any:
    return ElementTree.fromstring(text)


def test_junit(golden: Golden) -> None:
    text = report("junit")
    golden("junit.xml", text)
    root = suites(text)
    assert [suite.get("name") for suite in root] == ["k8s/a.yaml", "helm charts/a", "k8s/b.yaml", "k8s/c.yaml"]
    for suite in root:
        assert int(suite.get("tests")) == len(suite)
        for kind, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert int(suite.get(attribute)) == len(suite.findall(f"testcase/{kind}"))
    assert len(root.findall("testsuite/testcase")) == 9 + 2
    failed = [case.get("name") for case in root.iter("testcase") if case.find("failure") is not None]
    assert failed == ["Deployment team-a/trainer", "Deployment team-a/rendered"]
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(set(names)) == len(names)


def test_junit_fails_for_what_the_run_fails_for() -> None:
    def failures(style: Style) -> int:
        return len(suites(report("junit", style)).findall("testsuite/testcase/failure"))

    assert [failures(Style(fail_on=each)) for each in ("none", "deny", "warn", "change")] == [0, 2, 4, 5]


def test_hostile_text_in_xml() -> None:
    root = suites(report("junit", objects=[deny(message=HOSTILE)]))
    failure = root.find("testsuite/testcase/failure")
    assert failure.get("message") == "p/no-privileged: 50%: a,b ::error::x ]]> <&\"'  [0m  "
    assert failure.text.endswith("50%: a,b ::error::x ]]> <&\"'  [0m  ")
