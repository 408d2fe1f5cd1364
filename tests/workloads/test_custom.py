"""Every kind of custom resource, by an object of it."""

from copy import deepcopy
from typing import Any

import jsonpatch
import pytest

from app.workloads.custom import CUSTOM_KINDS
from app.workloads.kinds import CORE_KINDS, group_kind
from tests.workloads.judging import at, found, samples, verdict, verdicts

HALF = "0.5"

every_sample = pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample["kind"])


def replaced(value: Any, old: Any, new: Any) -> Any:
    if isinstance(value, dict):
        return {key: replaced(each, old, new) for key, each in value.items()}
    if isinstance(value, list):
        return [replaced(each, old, new) for each in value]
    return new if value == old else value


def count(value: Any, wanted: Any) -> int:
    if isinstance(value, dict | list):
        return sum(count(each, wanted) for each in (value.values() if isinstance(value, dict) else value))
    return int(value == wanted)


def test_every_kind_has_a_sample() -> None:
    assert [group_kind(sample) for sample in samples()] == list(CUSTOM_KINDS)
    assert not CUSTOM_KINDS.keys() & CORE_KINDS.keys()


def test_every_kind_says_where_it_is_from() -> None:
    assert [name for name, kind in CUSTOM_KINDS.items() if not kind.source] == []
    assert [name for name, kind in CUSTOM_KINDS.items() if bool(kind.about) is not bool(kind.reader)] == []


@every_sample
def test_every_pod_is_found_and_its_quantity_pointed_at(sample: dict[str, Any]) -> None:
    judged = verdicts(sample)
    assert len(judged) == count(sample, HALF) > 0
    pointers = [each.pointer for one in judged for each in one.findings if each.outcome == "deny"]
    assert [at(sample, pointer) for pointer in pointers] == [HALF] * len(judged)
    assert len(set(pointers)) == len(judged)


@every_sample
def test_templates_stand_in_the_object(sample: dict[str, Any]) -> None:
    for template in found(sample):
        assert isinstance(at(sample, template.spec_pointer), dict)


@every_sample
def test_a_patch_fits_the_object_and_leaves_nothing_more_to_write(sample: dict[str, Any]) -> None:
    whole = replaced(sample, HALF, 1)
    patch = [operation for one in verdicts(whole) for operation in one.patch]
    changed = jsonpatch.apply_patch(deepcopy(whole), patch)
    again = verdicts(changed)
    assert [one.patch for one in again] == [[]] * len(again)
    assert [one.gpu for one in again] == [True] * len(again)


@every_sample
def test_a_change_without_a_place_says_so(sample: dict[str, Any]) -> None:
    for one in verdicts(replaced(sample, HALF, 1)):
        for change in one.findings:
            if change.outcome in ("repair", "inject"):
                assert bool(change.operations) is not (", at the pod: " in change.message)


@every_sample
def test_what_the_api_server_refuses_is_not_repaired(sample: dict[str, Any]) -> None:
    # A request without a limit, where the sample has a limit: in a template that a Job or Deployment is made of, the
    # API server refuses it before there is a pod.
    swapped = replaced_keys(replaced(sample, HALF, 1), "limits", "requests")
    for template in found(swapped):
        outcomes = {each.outcome for each in verdict(template).findings if each.rule == "limits-equal-requests"}
        if outcomes:
            assert outcomes == ({"deny"} if template.kind.validated else {"repair"})


def replaced_keys(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {new if key == old else key: replaced_keys(each, old, new) for key, each in value.items()}
    if isinstance(value, list):
        return [replaced_keys(each, old, new) for each in value]
    return value
