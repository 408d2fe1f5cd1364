"""The contract of an injection: what it adds, what it leaves alone, what it says, and that once is enough."""

import re

import pytest

from app.model.finding import Finding
from app.policy.schema import InjectModel
from tests.contract.fixtures import FOLDER, Fixture, check_golden, fixtures, one_line, patched, policy_of, subject_of

COMMENT = "# The exact messages of the fixtures. GPUGATE_UPDATE_GOLDENS=1 rewrites this file.\n"
POINTERS = "# Where each of the messages points to. GPUGATE_UPDATE_GOLDENS=1 rewrites this file.\n"

# What an entry of `inject` can add, by the name of its folder: nodeSelector is in node-selector.
KINDS = [
    re.sub(r"[A-Z]", lambda letter: f"-{letter[0].lower()}", name)
    for name in InjectModel.model_fields
    if name not in ("name", "match", "onConflict")
]
every_kind = pytest.mark.parametrize("kind", KINDS)


def each(*parts: str) -> pytest.MarkDecorator:
    """Run a test for every fixture in these sub-folders, of every kind of injection."""
    listed = [pytest.param(kind, found, id=f"{kind}/{found.key}") for kind in KINDS for found in fixtures(kind, *parts)]
    return pytest.mark.parametrize(("kind", "fixture"), listed)


def injected(kind: str, fixture: Fixture) -> tuple[list[Finding], list[Finding]]:
    """The (changes, conflicts) of a fixture."""
    decision = subject_of(fixture.path).decide(policy_of(kind))
    return decision.changes, decision.findings


@every_kind
def test_there_are_fixtures_that_change_and_that_stay(kind: str) -> None:
    assert fixtures(kind, "")
    assert fixtures(kind, "unchanged")
    assert policy_of(kind).injections
    assert not policy_of(kind).rules
    known = {"policy.yaml", "messages.yaml", "pointers.yaml", "unchanged", "conflict"}
    listed = {path.name for found in fixtures(kind, "") for path in (found.path, found.expected)}
    assert {path.name for path in (FOLDER / kind).iterdir()} <= known | listed


def test_there_are_conflicts() -> None:
    assert fixtures("node-selector", "conflict")


@each("")
def test_changed(kind: str, fixture: Fixture) -> None:
    """``x.expected.yaml`` beside ``x.yaml`` is the object afterwards."""
    subject = subject_of(fixture.path)
    changes, conflicts = injected(kind, fixture)
    assert changes
    assert conflicts == []
    check_golden(fixture.expected, patched(subject.obj, changes))


@each("unchanged")
def test_unchanged(kind: str, fixture: Fixture) -> None:
    """What is in ``unchanged/`` is the same afterwards, and nothing is said of it."""
    assert injected(kind, fixture) == ([], [])
    assert not fixture.expected.exists()


@each("conflict")
def test_conflict(kind: str, fixture: Fixture) -> None:
    """What is in ``conflict/`` is refused; what does not conflict is added all the same."""
    subject = subject_of(fixture.path)
    changes, conflicts = injected(kind, fixture)
    assert conflicts
    assert {conflict.outcome for conflict in conflicts} == {"deny"}
    assert all(conflict.final for conflict in conflicts)  # refused by the mutating call
    check_golden(fixture.expected, patched(subject.obj, changes) if changes else None)


@each("", "conflict")
def test_once_is_enough(kind: str, fixture: Fixture) -> None:
    policy, subject = policy_of(kind), subject_of(fixture.path)
    changes, conflicts = injected(kind, fixture)
    result = patched(subject.obj, changes)
    again = subject._replace(obj=result, template=subject.template._replace(spec=result["spec"])).decide(policy)
    assert again.changes == []
    assert again.findings == conflicts


@each("", "conflict")
def test_nothing_of_the_pods_is_overwritten(kind: str, fixture: Fixture) -> None:
    subject = subject_of(fixture.path)
    before, after = subject.obj["spec"], patched(subject.obj, injected(kind, fixture)[0])["spec"]
    assert _kept(before, after)


def _kept(before: object, after: object) -> bool:
    """True if everything in ``before`` is in ``after``, lists in their order and only longer at their end."""
    if isinstance(before, dict) and isinstance(after, dict):
        return all(value is None or (key in after and _kept(value, after[key])) for key, value in before.items())
    if isinstance(before, list) and isinstance(after, list):
        return len(before) <= len(after) and all(map(_kept, before, after))
    return before == after


@every_kind
def test_messages(kind: str) -> None:
    said = {}
    for fixture in fixtures(kind, "", "conflict"):
        changes, conflicts = injected(kind, fixture)
        said[fixture.key] = [f"{finding.outcome}: {finding.message}" for finding in changes + conflicts]
        assert [problem for finding in changes + conflicts for problem in one_line(finding.message)] == []
    check_golden(FOLDER / kind / "messages.yaml", said, COMMENT)


@every_kind
def test_pointers(kind: str) -> None:
    said = {
        fixture.key: [finding.pointer for found in injected(kind, fixture) for finding in found]
        for fixture in fixtures(kind, "", "conflict")
    }
    check_golden(FOLDER / kind / "pointers.yaml", said, POINTERS)
