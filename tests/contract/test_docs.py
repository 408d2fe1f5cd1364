"""docs/rules.md has a section for each rule and injection, which says what the registry says; its examples are run."""

import dataclasses
import re
from typing import Any, Literal, get_args

import orjson
import pytest
import yaml

from app.engine import Decision, decide
from app.model.context import Context
from app.model.finding import Outcome
from app.model.pod import Pod
from app.policy.load import load
from app.policy.schema import InjectModel
from app.rules.registry import RULES
from app.rules.rule import Rule
from tests.contract.fixtures import ROOT, patched, words

TEXT = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## `([\w-]+)`\n(.*?)(?=^#|\Z)", TEXT, re.MULTILINE | re.DOTALL))
INJECTIONS = [name for name in InjectModel.model_fields if name not in ("name", "match", "onConflict")]
PODS = {"gpu": "GPU pods: ", "other": "pods without GPUs: ", "every": "every pod, "}

every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)


def blocks(name: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", SECTIONS[name], re.MULTILINE | re.DOTALL)


def judged(section: Literal["rules", "inject"], entry: str, obj: dict[str, Any], *, repair: bool) -> Decision:
    spec = {"gpus": {"presets": ["nvidia"]}, section: [yaml.safe_load(entry)]}
    whole = {"apiVersion": "gpugate.dev/v1alpha1", "kind": "GpuPolicy", "metadata": {"name": "gpu-pods"}, "spec": spec}
    return decide(load([("example.json", orjson.dumps(whole))]), Pod.of(obj), Context(), repair=repair)


def test_sections() -> None:
    assert list(SECTIONS) == [*RULES, *INJECTIONS]


@every_rule
def test_section_says_what_the_registry_says(rule: Rule) -> None:
    said = words(SECTIONS[rule.id])
    assert said.startswith(f"{rule.summary}. **Why.** {words(rule.why)} **Looks at** {PODS[rule.pods]}")
    assert f"**How to comply.** {words(rule.comply)} **" in said
    assert ("**Repair.**" in said) is rule.repairs


@every_rule
def test_parameters(rule: Rule) -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \|$", SECTIONS[rule.id], re.MULTILINE)
    fields = dataclasses.fields(rule.parameters)
    assert rows == [(field.name, default(field), field.metadata["description"]) for field in fields]
    assert ("**Parameters.** None." in SECTIONS[rule.id]) is not bool(fields)


def default(field: dataclasses.Field[Any]) -> str:
    if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
        return "required"
    return f"`{str(field.default).lower()}`" if isinstance(field.default, bool) else "-"


@every_rule
def test_example(rule: Rule) -> None:
    entry, wrong, right = blocks(rule.id, "yaml")
    (message,) = blocks(rule.id, "text")
    findings = judged("rules", entry, yaml.safe_load(wrong), repair=False).findings
    assert [finding.text for finding in findings] == message.splitlines()
    assert judged("rules", entry, yaml.safe_load(right), repair=False).findings == []


@pytest.mark.parametrize("name", INJECTIONS)
def test_injection(name: str) -> None:
    entry, before, after = blocks(name, "yaml")
    assert set(yaml.safe_load(entry)) <= {"name", "match", name}
    obj = yaml.safe_load(before)
    decision = judged("inject", entry, obj, repair=True)
    assert decision.findings == []
    assert patched(obj, decision.changes) == yaml.safe_load(after)


@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_outcome(outcome: str) -> None:
    assert f"\n| `{outcome}` | " in TEXT
