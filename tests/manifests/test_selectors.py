"""Each namespace is in exactly one mode's entries, whatever its label says."""

from itertools import chain, combinations
from typing import Any, get_args

import pytest

from app.manifests.selectors import LADDER, NAME_LABEL, namespaces
from app.policy.compiled import MODE_LABEL, Mode, Policy
from tests.manifests.policies import policy

MODES: tuple[Mode, ...] = get_args(Mode)
LABELS = (None, "", *MODES, "enforced", "ENFORCE", "off")
PINS: tuple[dict[str, Mode], ...] = (
    {},
    {"pinned": "enforce"},
    {"pinned": "disabled", "also": "audit"},
    {"exempt": "enforce", "pinned": "warn", "also": "warn"},
)


def matches(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    """The API server's reading of a selector: NotIn holds where there is no label."""
    assert not selector.keys() - {"matchExpressions"}
    for requirement in selector.get("matchExpressions", ()):
        assert requirement["values"], "the API server refuses an empty list"
        present = labels.get(requirement["key"]) in requirement["values"]
        if present != {"In": True, "NotIn": False}[requirement["operator"]]:
            return False
    return True


def modes_by_selector(made: Policy, name: str, label: str | None) -> list[Mode]:
    labels = {NAME_LABEL: name, **({} if label is None else {MODE_LABEL: label})}
    return [each.mode for each in namespaces(made) if matches(each.selector, labels)]


@pytest.mark.parametrize("pins", PINS, ids=str)
@pytest.mark.parametrize("exempt", [(), ("exempt",)], ids=["none exempt", "exempt"])
@pytest.mark.parametrize("default", MODES)
def test_the_selectors_agree_with_the_policy(default: Mode, exempt: tuple[str, ...], pins: dict[str, Mode]) -> None:
    choices = chain.from_iterable(combinations(MODES, count) for count in range(len(MODES) + 1))
    for allowed in choices:
        modes = {"default": default, "labels": list(allowed), "namespaces": pins}
        made = policy(modes=modes, exempt={"namespaces": list(exempt)})
        for name in ("plain", "pinned", "also", "exempt"):
            for label in LABELS:
                mode = "disabled" if name in exempt else made.modes.of(name, label)
                expected = [] if mode == "disabled" else [mode]
                assert modes_by_selector(made, name, label) == expected, (allowed, name, label)


def test_modes_that_cannot_occur_have_no_entry() -> None:
    found = [(each.mode, each.pinned) for each in namespaces(policy(modes={"default": "disabled", "labels": ["warn"]}))]
    assert found == [("warn", False)]
    pinned = policy(modes={"default": "disabled", "labels": [], "namespaces": {"a": "enforce", "b": "enforce"}})
    assert [(each.mode, each.pinned) for each in namespaces(pinned)] == [("enforce", True)]
    assert namespaces(policy(modes={"default": "disabled", "labels": []})) == []
    assert [each.mode for each in namespaces(policy())] == list(LADDER)
