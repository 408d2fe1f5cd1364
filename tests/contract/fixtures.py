"""The fixtures under policies/tests, and their goldens.

A fixture is a file that holds the object to judge; objects before it (RuntimeClasses, ResourceClaimTemplates) are
what is known of its cluster. With GPUGATE_UPDATE_GOLDENS=1 in the environment a test that finds a golden different
rewrites it and fails all the same, so that nobody takes it for a run that checked something: look at what changed in
git, and run again without.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import jsonpatch
import pytest
import yaml

from app.documents import DocumentError, read
from app.engine import Decision, decide
from app.model.context import ClusterFacts, Context
from app.model.finding import Finding
from app.policy.compiled import Policy
from app.policy.load import load
from app.workloads.facts import claim_template, runtime_class
from app.workloads.kinds import CORE_KINDS
from app.workloads.templates import Template, templates

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = ROOT / "policies" / "tests"
UPDATE: Final = "GPUGATE_UPDATE_GOLDENS"
EXPECTED: Final = ".expected.yaml"


class Fixture(NamedTuple):
    """One file; ``key`` is its path below the folder of its rule or injection."""

    key: str
    path: Path

    @property
    def expected(self) -> Path:
        """Where the object as it is afterwards would be."""
        return self.path.with_name(self.path.stem + EXPECTED)


class Subject(NamedTuple):
    """The object of a fixture, its pod, and what is known around it."""

    obj: dict[str, Any]
    template: Template
    context: Context

    def decide(self, policy: Policy, *, repair: bool = True) -> Decision:
        """What the policy says of it."""
        return decide(policy, self.template.pod(), self.context, repair=repair)


def fixtures(folder: str, *parts: str) -> list[Fixture]:
    """The fixtures of a rule or injection, in these sub-folders ("" for the folder itself)."""
    base = FOLDER / folder
    paths = [path for part in parts for path in sorted((base / part).glob("*.yaml"))]
    goldens = {"policy.yaml", "messages.yaml", "pointers.yaml", "repairs.yaml"}
    return [
        Fixture(path.relative_to(base).as_posix(), path)
        for path in paths
        if not path.name.endswith(EXPECTED) and path.name not in goldens
    ]


def policy_of(folder: str) -> Policy:
    """The policy of a rule's or injection's folder."""
    path = FOLDER / folder / "policy.yaml"
    return load([(path.name, path.read_bytes())])


def objects(path: Path) -> list[dict[str, Any]]:
    """The objects of a file, all of which must be readable."""
    return [_value(found) for found in read(path.read_bytes(), path.name)]


def _value(found: Any) -> dict[str, Any]:
    if isinstance(found, DocumentError):
        raise found
    value: dict[str, Any] = found.value
    return value


def subject_of(path: Path) -> Subject:
    """What a fixture holds: facts first, then one object with one pod."""
    *known, obj = objects(path)
    (template,) = templates(obj, CORE_KINDS)
    return Subject(obj, template, context_of(obj, template, known))


def context_of(obj: dict[str, Any], template: Template, known: list[dict[str, Any]]) -> Context:
    """The context of an object's pod beside these other objects of the cluster."""
    classes = [fact for each in known if (fact := runtime_class(each))]
    claims = [found for each in known if (found := claim_template(each))]
    return Context(
        namespace=obj["metadata"].get("namespace"),
        facts=ClusterFacts(
            {fact.name: fact for fact in classes} if classes else None,
            claims={(found.namespace or "", found.name): found.device_classes for found in claims},
        ),
        template=template.kind.validated,
    )


def patched(obj: dict[str, Any], changes: list[Finding]) -> dict[str, Any]:
    """The object after the operations of the changes."""
    operations = [operation for change in changes for operation in change.operations]
    result: dict[str, Any] = jsonpatch.apply_patch(obj, operations)
    return result


def check_golden(path: Path, value: object, comment: str = "") -> None:
    """Fail unless the file holds the value (None: unless there is no file)."""
    held = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None
    if held == value:
        return
    shown = path.relative_to(ROOT)
    if not os.environ.get(UPDATE):
        written = yaml.safe_dump(value, sort_keys=False, width=1000, allow_unicode=True)
        pytest.fail(f"{shown} differs from what there is now ({UPDATE}=1 rewrites it):\n{written}")
    if value is None:
        path.unlink()
    else:
        text = yaml.safe_dump(value, sort_keys=False, width=1000, allow_unicode=True)
        path.write_text(comment + text, encoding="utf-8")
    pytest.fail(f"{shown} was rewritten: review it")


def words(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(text.split())


def one_line(message: str) -> Iterator[str]:
    """What is wrong with a message as one line for a terminal."""
    if not message.isprintable():
        yield "holds what cannot be printed"
    if message != words(message):
        yield "holds white space that is not one space"
    if message.endswith((".", ";", ",")):
        yield "ends in a punctuation mark"
