"""Files of deploy/ that are made from the code are what the code says now. `make generate` writes them."""

import json

import jsonschema
import pytest
import yaml

from tests.deploy.generate import CHART, DEPLOY, generated, with_modes


def test_they_are_what_the_code_says() -> None:
    for name, content in generated().items():
        assert (DEPLOY / name).read_text() == content, f"deploy/{name} is not up to date: make generate"


def test_each_right_of_the_keeper_has_its_reason_above_it() -> None:
    for name in ("kustomize/base/keeper.yaml", f"{CHART}/templates/keeper-rbac.yaml"):
        lines = (DEPLOY / name).read_text().splitlines()
        rules = [place for place, line in enumerate(lines) if line == "  - apiGroups:"]
        assert len(rules) >= 9
        assert all(lines[place - 1].startswith("  # ") for place in rules)


def test_the_schema_of_the_values_is_one() -> None:
    schema = json.loads((DEPLOY / CHART / "values.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    for file in ("values.yaml", "values-ha.yaml"):
        jsonschema.validate(yaml.safe_load((DEPLOY / CHART / file).read_text()), schema)


def test_a_policy_without_its_modes_is_no_shipped_policy() -> None:
    with pytest.raises(ValueError, match="modes"):
        with_modes("spec: {}\n", "audit", None)
