"""The JSON Schema that editors get: as strict as the loader, with a word on everything."""

import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from app.policy.schema import document_model
from tests.policy.documents import document

SCHEMA: dict[str, Any] = document_model().model_json_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
POLICIES = Path(__file__).resolve().parents[2] / "policies"
ERRORS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("errors.yaml").read_text(encoding="utf-8"))

# What a JSON Schema cannot say, or what it is not asked to: relations between values, and the grammar of names.
BEYOND = re.compile(
    r"is not (a|an|the|namespace)\b|is neither|holds a|is no (name|day)|among allowed|is named|says nothing"
    r"|adds nothing|negative|must list|without a key|takes no value|needs effect|match is for everything"
    r"|has no rule|does not know|should not be empty|as YYYY|only a trailing|duplicate key|never applies|matches no"
)


class Text(yaml.SafeLoader):
    """Leaves days as text, as the loader of policies does."""


Text.yaml_implicit_resolvers = {
    letter: [(tag, expression) for tag, expression in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def parsed(text: str) -> Any:
    return yaml.load(text, Text)


def test_it_is_a_schema() -> None:
    VALIDATOR.check_schema(SCHEMA)


@pytest.mark.parametrize("path", sorted((POLICIES / "tests").glob("*/policy.yaml")), ids=lambda path: path.parent.name)
def test_policies_are_valid(path: Path) -> None:
    VALIDATOR.validate(parsed(path.read_text(encoding="utf-8")))


def structural() -> list[Any]:
    """The documents whose errors are all about structure."""
    return [
        pytest.param(case["file"], id=case["name"])
        for case in ERRORS
        if "---" not in case["file"]
        and not any(BEYOND.search(error) for error in case["errors"])
        and not re.search("parsing|tab can|no document|an object was expected", case["errors"][0])
    ]


@pytest.mark.parametrize("text", structural())
def test_an_editor_sees_what_the_loader_refuses(text: str) -> None:
    assert not VALIDATOR.is_valid(parsed(text))


def test_most_errors_are_structural() -> None:
    assert len(structural()) > 30


def test_the_shipped_policy_is_valid() -> None:
    VALIDATOR.validate(parsed((POLICIES / "gpu-pods.yaml").read_text(encoding="utf-8")))


def test_an_editor_takes_a_day() -> None:
    exception = "{name: a, rules: [r], match: {images: [x]}, owner: o, reason: r, expires: 2027-01-31}"
    VALIDATOR.validate(parsed(document(f"exceptions: [{exception}]")))


def models() -> list[Any]:
    return [pytest.param(name, model, id=name) for name, model in SCHEMA["$defs"].items()]


@pytest.mark.parametrize(("name", "model"), models())
def test_every_model_is_closed_and_described(name: str, model: dict[str, Any]) -> None:
    assert model["additionalProperties"] is False
    assert model.get("description")
    undescribed = {
        key for key, entry in model["properties"].items() if "description" not in entry and "$ref" not in entry
    }
    assert undescribed == set()


def test_no_name_of_ours_is_something_else_in_yaml() -> None:
    def names(node: Any) -> list[str]:
        if isinstance(node, list):
            return [name for entry in node for name in names(entry)]
        if not isinstance(node, dict):
            return []
        own = [*node.get("properties", {}), *node.get("enum", []), node.get("const", "text")]
        return [name for name in own if isinstance(name, str)] + [
            name for entry in node.values() for name in names(entry)
        ]

    listed = set(names(SCHEMA))
    assert {"disabled", "NoSchedule", "nvidia", "with", "onConflict"} <= listed
    assert [name for name in listed if yaml.safe_load(name) != name] == []
