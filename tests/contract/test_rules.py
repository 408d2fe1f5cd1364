"""The contract of a rule: fixtures, messages, repairs and a schema entry, for each that is registered."""

import re
from typing import Any

import jsonpointer
import pytest

from app.engine import Decision
from app.model.finding import Finding
from app.policy.schema import document_model
from app.rules.registry import RULES
from app.rules.rule import Rule
from tests.contract.fixtures import (
    FOLDER,
    Fixture,
    check_golden,
    fixtures,
    one_line,
    patched,
    policy_of,
    subject_of,
)

VIOLATIONS = ("deny", "warn", "audit")
COMMENT = "# The exact messages of the fixtures. GPUGATE_UPDATE_GOLDENS=1 rewrites this file.\n"
POINTERS = "# Where each of the messages points to. GPUGATE_UPDATE_GOLDENS=1 rewrites this file.\n"
# A message tells what to write, in one of these words.
ADVICE = re.compile(r"\b(set|remove|add|write|ask|leave|list|allowed)\b")

every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)


def each(*parts: str, repairs: bool = False) -> pytest.MarkDecorator:
    """Run a test for every fixture in these sub-folders, of every rule or of those that repair."""
    listed = [
        pytest.param(rule, fixture, id=f"{rule.id}/{fixture.key}")
        for rule in RULES.values()
        if rule.repairs or not repairs
        for fixture in fixtures(rule.id, *parts)
    ]
    return pytest.mark.parametrize(("rule", "fixture"), listed)


def findings(rule: Rule, fixture: Fixture) -> list[Finding]:
    """What the rule finds in the fixture as it is written."""
    return _of_rule(rule, subject_of(fixture.path).decide(policy_of(rule.id), repair=False).findings)


def _of_rule(rule: Rule, found: list[Finding]) -> list[Finding]:
    names = {bound.name for bound in policy_of(rule.id).rules if bound.rule is rule}
    return [finding for finding in found if finding.rule in names]


def _repairs(rule: Rule, decision: Decision) -> list[Finding]:
    return _of_rule(rule, [change for change in decision.changes if change.outcome == "repair"])


@every_rule
def test_there_are_fixtures_that_pass_and_that_fail(rule: Rule) -> None:
    assert fixtures(rule.id, "pass")
    assert fixtures(rule.id, "fail")
    assert {bound.rule for bound in policy_of(rule.id).rules} == {rule}
    assert not policy_of(rule.id).injections
    known = {"policy.yaml", "messages.yaml", "pointers.yaml", "pass", "fail", "note"}
    known |= {"repairs.yaml"} if rule.repairs else set()
    assert {path.name for path in (FOLDER / rule.id).iterdir()} <= known


@each("pass")
def test_pass(rule: Rule, fixture: Fixture) -> None:
    assert findings(rule, fixture) == []


@each("fail")
def test_fail(rule: Rule, fixture: Fixture) -> None:
    assert any(finding.outcome in VIOLATIONS for finding in findings(rule, fixture))


@each("note")
def test_note(rule: Rule, fixture: Fixture) -> None:
    found = findings(rule, fixture)
    assert found
    # A warning of a rule's own is no violation: it is said of a change that was left out.
    assert [finding for finding in found if finding.outcome in VIOLATIONS and not finding.early] == []


@every_rule
def test_messages(rule: Rule) -> None:
    said = {
        fixture.key: [finding.message for finding in findings(rule, fixture)]
        for fixture in fixtures(rule.id, "fail", "note")
    }
    check_golden(FOLDER / rule.id / "messages.yaml", said, COMMENT)


@every_rule
def test_pointers(rule: Rule) -> None:
    said = {
        fixture.key: [finding.pointer for finding in findings(rule, fixture)]
        for fixture in fixtures(rule.id, "fail", "note")
    }
    check_golden(FOLDER / rule.id / "pointers.yaml", said, POINTERS)


@each("fail", "note")
def test_message_names_the_container_and_says_what_to_write(rule: Rule, fixture: Fixture) -> None:
    pod = subject_of(fixture.path).template.pod()
    labels = {(container.kind, container.name): container.label for container in pod.containers}
    for finding in findings(rule, fixture):
        assert list(one_line(finding.message)) == []
        if finding.container_kind and finding.container:
            assert finding.message.startswith(f"{labels[finding.container_kind, finding.container]}: ")  # type: ignore[index]
        if finding.outcome in VIOLATIONS and not finding.early:
            assert ADVICE.search(finding.message)


@each("fail", "note")
def test_pointer_leads_to_the_field_or_to_where_it_belongs(rule: Rule, fixture: Fixture) -> None:
    obj = subject_of(fixture.path).obj
    for finding in findings(rule, fixture):
        parent, _, _ = finding.pointer.rpartition("/")
        assert isinstance(jsonpointer.resolve_pointer(obj, parent), dict | list)


@each("pass", "note", repairs=True)
def test_nothing_is_repaired_in_what_passes(rule: Rule, fixture: Fixture) -> None:
    assert _repairs(rule, subject_of(fixture.path).decide(policy_of(rule.id))) == []


@each("fail", repairs=True)
def test_repair(rule: Rule, fixture: Fixture) -> None:
    """``x.expected.yaml`` beside ``x.yaml`` is the object after the repair; without it there must be none."""
    policy, subject = policy_of(rule.id), subject_of(fixture.path)
    decision = subject.decide(policy)
    repairs = _repairs(rule, decision)
    remaining = [finding.message for finding in _of_rule(rule, decision.findings)]
    written = [finding.message for finding in findings(rule, fixture)]
    assert len(remaining) + len(repairs) == len(written)
    check_golden(fixture.expected, patched(subject.obj, repairs) if repairs else None)
    if not repairs:
        assert remaining == written
        return
    again = subject_of(fixture.expected)._replace(context=subject.context)
    assert again.decide(policy).changes == []
    assert [finding.message for finding in again.decide(policy, repair=False).findings] == remaining


@pytest.mark.parametrize("rule", [rule for rule in RULES.values() if rule.repairs], ids=lambda rule: rule.id)
def test_messages_of_repairs(rule: Rule) -> None:
    policy = policy_of(rule.id)
    said = {}
    for fixture in fixtures(rule.id, "fail"):
        repairs = _repairs(rule, subject_of(fixture.path).decide(policy))
        if repairs:
            said[fixture.key] = [repair.message for repair in repairs]
            assert [problem for repair in repairs for problem in one_line(repair.message)] == []
    assert said
    check_golden(FOLDER / rule.id / "repairs.yaml", said, COMMENT)


@every_rule
def test_schema_entry(rule: Rule) -> None:
    definitions: dict[str, Any] = document_model().model_json_schema()["$defs"]
    (entry,) = [found for found in definitions.values() if found["properties"].get("rule", {}).get("const") == rule.id]
    assert entry["description"] == rule.comply
    assert rule.summary in entry["properties"]["rule"]["description"]
    assert rule.why in entry["properties"]["rule"]["description"]
    assert entry["additionalProperties"] is False
    assert ("const" in entry["properties"]["repair"]) is not rule.repairs
    parameters = definitions[entry["properties"]["with"]["$ref"].rpartition("/")[2]]
    assert parameters["additionalProperties"] is False
    assert set(parameters["properties"]) == set(rule.parameters.__dataclass_fields__)  # type: ignore[attr-defined]


@every_rule
def test_pods_without_gpus_reach_a_rule_that_looks_at_them(rule: Rule) -> None:
    for bound in policy_of(rule.id).rules:
        conditions = list(rule.condition(bound.parameters, policy_of(rule.id).gpus))
        assert bool(conditions) is (rule.pods != "gpu")


@every_rule
def test_metadata_are_sentences(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.id)
    assert rule.summary[0].isupper()
    assert not rule.summary.endswith(".")
    for text in (rule.why, rule.comply):
        assert text[0].isupper()
        assert text.endswith(".")
        assert list(one_line(text.removesuffix("."))) == []


def test_there_are_fixtures_of_nothing_else() -> None:
    from tests.contract.test_injections import KINDS

    assert {path.name for path in FOLDER.iterdir() if path.is_dir()} == {*RULES, *KINDS}


@each("fail", "note")
def test_only_rules_that_repair_speak_to_the_mutating_call(rule: Rule, fixture: Fixture) -> None:
    """The mutating call asks them alone, and all others only for a refusal that lists everything."""
    for repair in (True, False):
        found = _of_rule(rule, subject_of(fixture.path).decide(policy_of(rule.id), repair=repair).findings)
        assert rule.repairs or not any(finding.final or finding.early for finding in found)
