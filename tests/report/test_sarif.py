"""SARIF: valid, and within what GitHub takes."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from app.documents import Region
from app.report import sarif
from app.report.results import Style
from tests.report.samples import OBJECTS, judged, placed, pod, report

SCHEMAS = Path(__file__).parents[3] / "shared" / "schemas"
VALIDATOR = Draft4Validator(json.loads((SCHEMAS / "sarif-schema-2.1.0.json").read_text()))


def run_of(text: str) -> Any:
    value = json.loads(text)
    VALIDATOR.validate(value)
    (run,) = value["runs"]
    return run


def deny(number: int = 0) -> Any:
    return judged(pod(placed("deny", f"wrong {number}", at=Region(7, 50, 7, 51)), allowed=False), name=f"p{number}")


@pytest.mark.parametrize("style", [Style(), Style(verbose=True)])
@pytest.mark.parametrize("objects", [[], OBJECTS])
def test_it_is_what_the_standard_says(objects: Any, style: Style) -> None:
    run = run_of(report("sarif", style, objects))
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["invocations"][0]["executionSuccessful"] is False
    assert [each["message"]["text"] for each in run["invocations"][0]["toolExecutionNotifications"]] == [
        "not YAML",
        "cannot be read",
    ]


def test_every_rule_of_the_policy_has_what_github_shows() -> None:
    rules = run_of(report("sarif"))["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["p/no-privileged", "p/runtime-class", "p/gpu-nodes"]
    for rule in rules:
        for key in ("shortDescription", "fullDescription"):
            assert 0 < len(rule[key]["text"]) <= 1024
        assert rule["help"]["text"]
        assert rule["help"]["markdown"]
        assert rule["properties"]["problem.severity"] in ("error", "warning", "recommendation")
        assert len(rule["properties"]["tags"]) <= 20
    assert [rule["defaultConfiguration"]["level"] for rule in rules] == ["error", "warning", "error"]
    assert rules[0]["help"]["text"].endswith("\n\nAsk #gpus.")


def test_results_are_violations_and_warnings_the_most_severe_first() -> None:
    run = run_of(report("sarif"))
    results = run["results"]
    assert [each["level"] for each in results] == ["error", "error", "warning", "warning", "warning", "note", "note"]
    for each in results:
        assert run["tool"]["driver"]["rules"][each["ruleIndex"]]["id"] == each["ruleId"]
        assert len(each["locations"]) == 1
        assert all(each["partialFingerprints"].values())
    first = results[0]
    assert first["message"]["text"].startswith('container "a": request 6')
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "k8s/a.yaml"},
        "region": {"startLine": 7, "startColumn": 50, "endLine": 7, "endColumn": 51},
    }
    (verbose,) = [
        each for each in run_of(report("sarif", Style(verbose=True)))["results"] if each["message"]["text"] == "a note"
    ]
    assert verbose["level"] == "note"


def test_what_was_rendered_is_shown_at_the_start_of_its_template() -> None:
    (result,) = [each for each in run_of(report("sarif"))["results"] if "template" in each["message"]["text"]]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "charts/a/templates/x.yaml"
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 1
    assert result["message"]["text"].endswith("[helm charts/a:2:1]")


def test_what_is_known_is_suppressed() -> None:
    results = run_of(report("sarif"))["results"]
    assert [each["message"]["text"] for each in results if "suppressions" in each] == ["known already"]


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a b/ü.yaml", "a%20b/%C3%BC.yaml"),
        ("c:d/100%.yaml", "c%3Ad/100%25.yaml"),
        ("/elsewhere/x.yaml", "file:///elsewhere/x.yaml"),
        ("<stdin>", "%3Cstdin%3E"),
    ],
)
def test_paths_are_uris(path: str, uri: str) -> None:
    run = run_of(report("sarif", Style(path=lambda name: path), [deny()]))
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_no_more_results_than_github_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MAX_RESULTS", 3)
    warning = judged(pod(placed("warn", "less", at=Region(1, 1, 1, 2))))
    run = run_of(report("sarif", objects=[warning, deny(1), warning, deny(2), deny(3), deny(4)]))
    assert [each["message"]["text"] for each in run["results"]] == ["wrong 1", "wrong 2", "wrong 3"]
    (said,) = [each["message"]["text"] for each in run["invocations"][0]["toolExecutionNotifications"][2:]]
    assert said == "3 of 6 results are left out, the least severe ones."


def test_no_two_results_have_one_fingerprint() -> None:
    twice = [deny(1), deny(1)]
    results = run_of(report("sarif", objects=twice))["results"]
    assert len({each["partialFingerprints"]["gpugate/v1"] for each in results}) == 2
