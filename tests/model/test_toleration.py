"""Which tolerations tolerate which taints, as k8s.io/api core/v1/toleration.go ToleratesTaint has it."""

from typing import Any

import pytest

from app.model.toleration import Taint, tolerated, tolerates

TAINT = Taint("nvidia.com/gpu", "present", "NoSchedule")
BARE = Taint("nvidia.com/gpu", "", "NoExecute")


@pytest.mark.parametrize(
    ("toleration", "taint", "answer"),
    [
        ({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}, TAINT, True),
        ({"key": "nvidia.com/gpu", "operator": "Exists"}, TAINT, True),
        ({"key": "nvidia.com/gpu", "operator": "Exists", "effect": ""}, TAINT, True),
        ({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoExecute"}, TAINT, False),
        ({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "PreferNoSchedule"}, TAINT, False),
        ({"key": "other", "operator": "Exists"}, TAINT, False),
        ({"key": "nvidia.com", "operator": "Exists"}, TAINT, False),
        ({"key": "nvidia.com/gpu", "operator": "Exists", "value": "other"}, TAINT, True),  # Exists asks for no value
        ({"operator": "Exists"}, TAINT, True),
        ({"key": "", "operator": "Exists"}, TAINT, True),
        ({"operator": "Exists", "effect": "NoSchedule"}, TAINT, True),
        ({"operator": "Exists", "effect": "NoExecute"}, TAINT, False),
        ({"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"}, TAINT, True),
        ({"key": "nvidia.com/gpu", "value": "present"}, TAINT, True),  # no operator means Equal
        ({"key": "nvidia.com/gpu", "operator": "", "value": "present"}, TAINT, True),
        ({"key": "nvidia.com/gpu", "operator": None, "value": "present", "effect": None}, TAINT, True),
        ({"key": "nvidia.com/gpu", "operator": "Equal", "value": "Present"}, TAINT, False),
        ({"key": "nvidia.com/gpu", "operator": "Equal"}, TAINT, False),
        ({"key": "nvidia.com/gpu"}, TAINT, False),
        ({"key": "nvidia.com/gpu"}, BARE, True),
        ({"key": "nvidia.com/gpu", "operator": "Equal", "value": ""}, BARE, True),
        ({"key": "nvidia.com/gpu", "operator": "Equal", "value": None}, BARE, True),
        ({"key": "nvidia.com/gpu", "operator": "Equal", "value": "present"}, BARE, False),
        ({"value": "present"}, TAINT, True),  # the API server refuses it, but compares it so
        ({}, TAINT, False),
        ({}, BARE, True),
        ({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}, BARE, True),
        # The comparison operators are off unless a feature gate says otherwise; unknown ones tolerate nothing.
        ({"key": "nvidia.com/gpu", "operator": "Lt", "value": "9"}, Taint("nvidia.com/gpu", "1", "NoSchedule"), False),
        ({"key": "nvidia.com/gpu", "operator": "Gt", "value": "0"}, Taint("nvidia.com/gpu", "1", "NoSchedule"), False),
        ({"key": "nvidia.com/gpu", "operator": "exists"}, TAINT, False),
        ({"key": "nvidia.com/gpu", "operator": "In", "value": "present"}, TAINT, False),
    ],
)
def test_tolerates(toleration: dict[str, Any], taint: Taint, answer: bool) -> None:
    assert tolerates(toleration, taint) is answer


def test_one_of_several_is_enough() -> None:
    other, right = {"key": "other", "operator": "Exists"}, {"key": "nvidia.com/gpu", "operator": "Exists"}
    assert tolerated([other, right], TAINT)
    assert not tolerated([other], TAINT)
    assert not tolerated([], TAINT)


def test_several_do_not_add_up() -> None:
    key = {"key": "nvidia.com/gpu", "operator": "Equal", "value": "other", "effect": "NoSchedule"}
    value = {"key": "other", "operator": "Equal", "value": "present", "effect": "NoSchedule"}
    assert not tolerated([key, value], TAINT)


def test_how_a_taint_is_written() -> None:
    assert str(TAINT) == "nvidia.com/gpu=present:NoSchedule"
    assert str(BARE) == "nvidia.com/gpu:NoExecute"
