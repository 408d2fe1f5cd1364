"""Whether a toleration tolerates a taint.

Source: k8s.io/api core/v1/toleration.go ToleratesTaint (v0.37.2). The comparison operators Lt and Gt are behind
a feature gate that is off by default, and an unknown operator tolerates nothing, so both answer no.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class Taint(NamedTuple):
    """A node's taint; ``value`` is "" when it has none."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


def tolerates(toleration: Mapping[str, Any], taint: Taint) -> bool:
    """True if the toleration (as in ``spec.tolerations[]``) tolerates the taint."""
    effect = toleration.get("effect")
    if effect and effect != taint.effect:
        return False
    key = toleration.get("key")
    if key and key != taint.key:
        return False
    operator = toleration.get("operator")
    if not operator or operator == "Equal":
        return (toleration.get("value") or "") == taint.value
    return bool(operator == "Exists")


def tolerated(tolerations: Iterable[Mapping[str, Any]], taint: Taint) -> bool:
    """True if any of the tolerations tolerates the taint."""
    for toleration in tolerations:  # noqa: SIM110 - a generator costs more than what it looks at
        if tolerates(toleration, taint):
            return True
    return False
