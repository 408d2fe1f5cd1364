"""`gpugate schema`."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from app.rules.registry import RULES
from tests.cli.conftest import Gpugate

SHIPPED = yaml.safe_load((Path(__file__).parents[2] / "policies" / "gpu-pods.yaml").read_text())


@pytest.fixture
def schema(gpugate: Gpugate) -> Any:
    outcome = gpugate("schema")
    assert outcome.code == 0
    assert outcome.err == ""
    return outcome.json()


def test_it_is_a_schema_that_says_what_it_is_of(schema: Any) -> None:
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"] == "gpugate policy"


def test_the_shipped_policy_is_valid(schema: Any) -> None:
    Draft202012Validator(schema).validate(SHIPPED)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("apiVersion", "gpugate.dev/v1"),
        ("kind", "ClusterPolicy"),
        ("extra", 1),
        ("metadata", {}),
        ("spec/rule", []),
        ("spec/gpus/presets", ["nvidea"]),
        ("spec/modes/default", "off"),
        ("spec/rules", [{"rule": "no-privilege"}]),
        ("spec/rules", [{"rule": "no-privileged", "action": "block"}]),
        ("spec/rules", [{"rule": "no-privileged", "repair": True}]),
        ("spec/rules", [{"rule": "runtime-class"}]),
        ("spec/rules", [{"rule": "runtime-class", "with_": {"default": "nvidia"}}]),
        ("spec/rules", [{"rule": "runtime-class", "with": {"default": "nvidia", "allow": ["a"]}}]),
        ("spec/inject", [{"name": "a", "nodeSelectors": {}}]),
        ("spec/exceptions", [{"name": "a", "rules": [], "match": {}}]),
    ],
)
def test_wrong_policies_are_not(schema: Any, path: str, value: object) -> None:
    policy = deepcopy(SHIPPED)
    *folders, key = path.split("/")
    inner = policy
    for folder in folders:
        inner = inner[folder]
    inner[key] = value
    assert not Draft202012Validator(schema).is_valid(policy)


def test_it_names_the_keys_of_the_document_and_nothing_of_the_code(schema: Any) -> None:
    text = str(schema)
    assert "'with'" in text
    assert "with_" not in text
    assert "app__" not in text


def test_every_rule_is_described(schema: Any) -> None:
    described = {
        each["properties"]["rule"]["const"]: each["properties"]["rule"]["description"]
        for each in schema["$defs"].values()
        if "const" in each.get("properties", {}).get("rule", {})
    }
    assert described.keys() == RULES.keys()
    assert all(RULES[rule].summary in text for rule, text in described.items())
