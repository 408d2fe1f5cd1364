"""The report for programs."""

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from app.report.results import Style
from tests.report.conftest import Golden
from tests.report.samples import report

SCHEMA = json.loads((Path(__file__).parent / "check.schema.json").read_text())


def test_golden(golden: Golden) -> None:
    value = json.loads(report("json"))
    value["tool"]["version"] = "1.2.3"
    golden("json.json", json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def test_it_is_what_its_schema_says() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    Draft202012Validator(SCHEMA).validate(json.loads(report("json")))
    Draft202012Validator(SCHEMA).validate(json.loads(report("json", objects=[])))


def test_keys_stand_in_the_order_of_the_schema() -> None:
    value = json.loads(report("json"))
    properties = SCHEMA["properties"]
    entry = properties["pods"]["items"]["properties"]
    assert_order(value, properties)
    assert_order(value["pods"][0], entry)
    assert_order(value["pods"][0]["findings"][0], entry["findings"]["items"]["properties"])
    assert_order(value["errors"][0], properties["errors"]["items"]["properties"])
    assert_order(value["summary"], properties["summary"]["properties"])


def assert_order(value: dict[str, Any], properties: dict[str, Any]) -> None:
    assert list(value) == list(properties)


def test_style_is_for_people() -> None:
    assert report("json") == report("json", Style(color=True, quiet=True, verbose=True))


def test_one_pod_a_line() -> None:
    lines = [line for line in report("json").splitlines() if line.startswith('{"file":"k8s/a.yaml"')]
    assert [json.loads(line.removesuffix(",").removesuffix("]"))["kind"] for line in lines] == [
        "Deployment", "Job", "Deployment", "Deployment", "Deployment", "Pod", "Deployment", "Deployment",
    ]  # fmt: skip


def test_the_summary_counts_what_the_pods_say() -> None:
    value = json.loads(report("json"))
    pods, summary = value["pods"], value["summary"]
    assert summary == {
        "files": 2,
        "objects": 9,
        "skipped": 1,
        "pods": len(pods),
        "gpuPods": sum(pod["gpu"] for pod in pods),
        "refused": sum(not pod["allowed"] for pod in pods),
        "warned": 2,
        "changed": sum(pod["changed"] for pod in pods),
        "exempt": sum(pod["exempt"] is not None for pod in pods),
        "known": sum(finding["known"] for pod in pods for finding in pod["findings"]),
        "errors": len(value["errors"]),
    }
