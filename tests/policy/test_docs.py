"""docs/policy.md says everything that the schema knows, and its examples are policies."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.policy.load import load
from app.policy.presets import NAMES, preset
from app.policy.schema import Mode, document_model
from tests.policy.documents import document

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "policy.md").read_text(encoding="utf-8")
SCHEMA: dict[str, Any] = document_model().model_json_schema()
ROW = re.compile(r"^\| `([A-Za-z.\[\]]+)` \| (.*?) \| (.*?) \|$", re.MULTILINE)
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def rows() -> dict[str, tuple[str, str]]:
    """The (default, description) of each key in a table."""
    found = [
        (key, (default, said)) for key, default, said in ROW.findall(TEXT) if "." in key or key in SCHEMA["properties"]
    ]
    assert len(dict(found)) == len(found), "a key has two rows"
    return dict(found)


def keys(node: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """The (path, default) of every key of the schema, as the tables write them."""
    for name, entry in node.get("properties", {}).items():
        at = f"{path}.{name}" if path else name
        yield at, "required" if name in node.get("required", ()) else shown(entry.get("default"))
        if name == "with":  # docs/rules.md
            continue
        inner = resolved(entry)
        yield from keys(resolved(inner["items"]), f"{at}[]") if inner.get("type") == "array" else keys(inner, at)


def resolved(node: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        node = SCHEMA["$defs"][node["$ref"].rpartition("/")[2]]
    if "discriminator" in node:  # a rule that repairs, and takes parameters that it does not need
        return resolved({"$ref": "#/$defs/RuleLimitsEqualRequests"})
    return node


def shown(default: Any) -> str:
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if not default or (isinstance(default, dict) and not any(default.values())):
        return "-"
    return f"`{', '.join(default) if isinstance(default, list) else default}`"


def test_every_key_has_a_row_with_its_default() -> None:
    assert {key: default for key, (default, _) in rows().items()} == dict(keys(SCHEMA))


def test_every_row_says_something() -> None:
    assert [key for key, (_, said) in rows().items() if not said] == []


@pytest.mark.parametrize("name", Mode.__args__)  # type: ignore[attr-defined]
def test_every_mode_is_a_step_of_the_ladder(name: str) -> None:
    assert re.search(rf"^\| `{name}` \| .* \| .* \| .* \|$", TEXT, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_every_preset_has_a_row_with_its_runtime_classes(name: str) -> None:
    found = re.search(rf"^\| `{name}` \| .* \| (.*) \|$", TEXT, re.MULTILINE)
    assert found
    assert tuple(re.findall(r"`([^`]+)`", found[1])) == preset(name).runtime_classes


@pytest.mark.parametrize("text", EXAMPLES, ids=lambda text: text.partition(":")[0])
def test_every_example_is_a_policy(text: str) -> None:
    gpus = "" if "gpus:" in text else "gpus: {presets: [nvidia]}\n"
    whole = text if text.startswith("apiVersion") else document(gpus + text)
    assert load([("example.yaml", whole.encode())])


def test_every_section_has_an_example() -> None:
    written = {key for text in EXAMPLES for key in yaml.safe_load(text)}
    assert written >= set(SCHEMA["$defs"]["GpuPolicySpec"]["properties"])


def test_lines_are_short_enough_to_read_in_a_terminal() -> None:
    prose = [line for line in TEXT.splitlines() if not line.startswith("|")]
    assert [line for line in prose if len(line) > 140] == []
