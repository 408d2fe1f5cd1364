"""Everything that can be wrong with a policy file, and what is said of it: errors.yaml."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from app.policy.errors import PolicyError, Problem
from app.policy.load import load

CASES: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("errors.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_error(case: dict[str, Any]) -> None:
    with pytest.raises(PolicyError) as caught:
        load([("p.yaml", case["file"].encode())])
    assert str(caught.value).splitlines() == case["errors"]
    assert caught.value.problems == sorted(caught.value.problems)


def test_names_are_unique() -> None:
    assert len({case["name"] for case in CASES}) == len(CASES)


def test_a_message_is_one_line() -> None:
    text = 'apiVersion: gpugate.dev/v1alpha1\nkind: GpuPolicy\nmetadata: {name: "a\\nb: c"}\nspec: {"x\\ny": 1}\n'
    with pytest.raises(PolicyError) as caught:
        load([("p.yaml", text.encode())])
    assert len(str(caught.value).splitlines()) == len(caught.value.problems) == 2


def test_no_file() -> None:
    with pytest.raises(PolicyError) as caught:
        load([])
    assert caught.value.problems == [Problem("policy", 1, 1, "there is no policy file")]


def test_json_has_positions_too() -> None:
    text = (
        '{"apiVersion": "gpugate.dev/v1alpha1", "kind": "GpuPolicy",\n"metadata": {"name": "p"},\n "spec": {"gpu": {}}}'
    )
    with pytest.raises(PolicyError) as caught:
        load([("p.json", text.encode())])
    assert str(caught.value) == 'p.json:3:11: unknown key "gpu"; did you mean "gpus"?'
