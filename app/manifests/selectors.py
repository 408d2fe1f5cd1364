"""Which namespaces are in which mode, as namespaceSelectors.

Each namespace is in exactly one of them, or in none: those that are exempt or `disabled`. The API server labels every
namespace with its name, and evaluates selectors itself.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from app.policy.compiled import MODE_LABEL, Mode, Policy

NAME_LABEL: Final = "kubernetes.io/metadata.name"
LADDER: Final[tuple[Mode, ...]] = ("audit", "warn", "assist", "enforce")


class Namespaces(NamedTuple):
    """The namespaces in one mode: those ``pinned`` to it by name, or those whose label (or the default) chooses it."""

    mode: Mode
    pinned: bool
    selector: dict[str, Any]


def namespaces(policy: Policy) -> list[Namespaces]:
    """The groups of namespaces that can occur, from `audit` to `enforce`."""
    modes, exempt = policy.modes, policy.exempt.namespaces
    apart = sorted({*modes.namespaces, *exempt})
    found = []
    for mode in LADDER:
        names = sorted(name for name, pinned in modes.namespaces.items() if pinned == mode and name not in exempt)
        if names:
            found.append(Namespaces(mode, True, _selector(_requirement(NAME_LABEL, "In", names))))
        if mode not in modes.labels and mode != modes.default:
            continue
        if mode == modes.default:
            # NotIn holds for namespaces without the label too, and for values that mean nothing.
            others = sorted(other for other in modes.labels if other != mode)
            label = _requirement(MODE_LABEL, "NotIn", others)
        else:
            label = _requirement(MODE_LABEL, "In", [mode])
        found.append(Namespaces(mode, False, _selector(label, _requirement(NAME_LABEL, "NotIn", apart))))
    return found


def without(selector: dict[str, Any], namespace: str) -> dict[str, Any]:
    """The selector, for namespaces of any other name."""
    expressions = [*selector.get("matchExpressions", ()), _requirement(NAME_LABEL, "NotIn", [namespace])]
    return {**selector, "matchExpressions": expressions}


def _requirement(key: str, operator: str, values: Sequence[str]) -> dict[str, Any] | None:
    # The API server refuses In and NotIn without values.
    return {"key": key, "operator": operator, "values": list(values)} if values else None


def _selector(*requirements: dict[str, Any] | None) -> dict[str, Any]:
    expressions = [requirement for requirement in requirements if requirement]
    return {"matchExpressions": expressions} if expressions else {}
