"""The verdicts on every case: as the cluster would give them, and on what is written."""

from pathlib import Path
from typing import Any, NamedTuple

import jsonpatch
import pytest

from app.admission.judge import Verdict, judge
from app.model.context import Context
from app.workloads.custom import CUSTOM_KINDS
from app.workloads.kinds import CORE_KINDS, Kinds
from app.workloads.templates import Template, templates
from tests.cases.folders import TODAY, adds, cases, expected, policy, short
from tests.contract.fixtures import context_of, objects

# The cases by number: pods, core workloads, custom resources.
NUMBERS = [1, 2, 3, 4, 6, 7, 9, 10, 13, 14, 16, 17, 19, 20, 22, 23, 24, 26, 27, 28, 29, 30, 32, 33, 34, 36, 38, 40]
NUMBERS += [42, 43, 45, 47, 48, 50, 52, 55, 56, 57, 59, 61]
REVIEWS = [52]  # test_reviews.py
KINDS: Kinds = {**CUSTOM_KINDS, **CORE_KINDS}


class Judged(NamedTuple):
    """A pod of a case, and what its verdicts by one policy must be."""

    obj: dict[str, Any]
    template: Template
    context: Context
    policy: str
    wanted: dict[str, Any]

    def verdict(self, *, as_written: bool = False) -> Verdict:
        """What the policy says in mode `enforce`."""
        pod = self.template.pod()
        return judge(policy(self.policy), pod, self.context, "enforce", as_written=as_written)


def number(case: Path) -> int:
    return int(case.name[:2])


def pods(obj: dict[str, Any]) -> dict[str, Template | None]:
    """The pods of an object as expected.yaml calls them: by the object, and by their places if there are several."""
    name, found = f"{obj['kind']}/{obj['metadata']['name']}", list(templates(obj, KINDS))
    if len(found) < 2:
        return {name: next(iter(found), None)}
    return {f"{name} {template.spec_pointer}": template for template in found}


def judged() -> list[Any]:
    listed = []
    for case in cases():
        if number(case) in REVIEWS:
            continue
        wanted, known = expected(case), objects(case / "input.yaml")
        for obj in known:
            for name, template in pods(obj).items():
                if template is None:
                    continue
                context = context_of(obj, template, known)
                context = Context(context.namespace, TODAY, context.facts, context.template)
                for by in wanted[name] or ():
                    made = Judged(obj, template, context, by, wanted[name][by])
                    listed.append(pytest.param(made, id=f"{case.name}/{name}/{by}"))
    return listed


every_pod = pytest.mark.parametrize("each", judged())


def test_every_case_is_here() -> None:
    assert [number(case) for case in cases()] == NUMBERS


@pytest.mark.parametrize("case", [case for case in cases() if number(case) not in REVIEWS], ids=lambda case: case.name)
def test_every_object_has_its_verdicts(case: Path) -> None:
    found = {name: template is not None for obj in objects(case / "input.yaml") for name, template in pods(obj).items()}
    wanted = expected(case)
    assert {key: bool(verdicts) for key, verdicts in wanted.items()} == found
    assert all("platform" in verdicts for verdicts in wanted.values() if verdicts)


@every_pod
def test_as_the_cluster_would(each: Judged) -> None:
    verdict, wanted = each.verdict(), each.wanted["cluster"]
    assert short(verdict.findings) == sorted(wanted["findings"])
    assert verdict.allowed is wanted["allowed"]
    assert verdict.gpu is each.wanted["gpu"]
    assert verdict.exempt == each.wanted.get("exempt")
    assert adds(verdict.patch) == wanted.get("adds", [])
    assert unsaid(verdict, wanted) == []


def unsaid(verdict: Verdict, wanted: dict[str, Any]) -> list[str]:
    said = " ".join(finding.message for finding in verdict.findings)
    return [text for text in wanted.get("says", []) if text not in said]


@every_pod
def test_as_written(each: Judged) -> None:
    verdict, wanted = each.verdict(as_written=True), each.wanted["as_written"]
    assert short(verdict.findings) == sorted(wanted["findings"])
    assert verdict.allowed is wanted["allowed"]
    assert verdict.patch == []
    assert unsaid(verdict, wanted) == []


@every_pod
def test_the_changed_object_needs_no_further_change(each: Judged) -> None:
    verdict = each.verdict()
    changed = jsonpatch.apply_patch(each.obj, verdict.patch)
    (template,) = (found for found in templates(changed, KINDS) if found.spec_pointer == each.template.spec_pointer)
    again = each._replace(obj=changed, template=template).verdict()
    assert again.patch == []
    assert again.allowed is verdict.allowed
    # What was added to the object is done; what has no place in it is added to every pod again.
    assert short(again.findings) == short([finding for finding in verdict.findings if not finding.operations])


@every_pod
def test_other_modes_admit(each: Judged) -> None:
    pod = each.template.pod()
    for mode in ("audit", "warn", "assist"):
        verdict = judge(policy(each.policy), pod, each.context, mode)
        assert verdict.allowed
        assert short(verdict.findings) == sorted(each.wanted["cluster"]["findings"])
