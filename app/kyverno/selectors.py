"""Label selectors, with wildcards in ``matchLabels``.

Source: kyverno pkg/engine/wildcards/wildcards.go (ReplaceInSelector), apimachinery labels/selector.go.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from app.kyverno.shapes import a_list, a_map, only_keys, suggestion, text_map, texts
from app.kyverno.types import Flaw
from app.kyverno.values import has_wildcard, wildcard

_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist")


class _Requirement(NamedTuple):
    key: str
    operator: str
    values: tuple[str, ...]

    def holds(self, labels: Mapping[str, str]) -> bool:
        if self.operator == "Exists":
            return self.key in labels
        if self.operator == "DoesNotExist":
            return self.key not in labels
        among = self.key in labels and labels[self.key] in self.values
        return among is (self.operator == "In")


class LabelSelector(NamedTuple):
    """Labels that must be there, and requirements."""

    labels: tuple[tuple[str, str], ...]
    requirements: tuple[_Requirement, ...]

    def selects(self, labels: Mapping[str, str]) -> bool:
        """Whether the labels are as it asks for."""
        return all(_labelled(key, value, labels) for key, value in self.labels) and all(
            requirement.holds(labels) for requirement in self.requirements
        )


def _labelled(key: str, value: str, labels: Mapping[str, str]) -> bool:
    if has_wildcard(key) or has_wildcard(value):
        return any(wildcard(key, name) and wildcard(value, found) for name, found in labels.items())
    return labels.get(key) == value


def compile_selector(value: Any, pointer: str, flaws: list[Flaw]) -> LabelSelector | None:
    """The selector; None where there is none."""
    if value is None or not a_map(value, pointer, flaws, "a selector"):
        return None
    only_keys(value, ("matchLabels", "matchExpressions"), pointer, flaws, "a selector")
    labels = text_map(value.get("matchLabels"), f"{pointer}/matchLabels", flaws, "matchLabels")
    requirements = []
    listed = value.get("matchExpressions")
    at = f"{pointer}/matchExpressions"
    for index, item in enumerate([] if listed is None else a_list(listed, at, flaws, "matchExpressions")):
        if not a_map(item, f"{at}/{index}", flaws, "a requirement"):
            continue
        only_keys(item, ("key", "operator", "values"), f"{at}/{index}", flaws, "a requirement")
        operator = item.get("operator")
        if operator not in _OPERATORS:
            said = f'"{operator}" is no operator of a selector; {suggestion(operator, _OPERATORS)}'
            flaws.append(Flaw(f"{at}/{index}/operator", said))
            continue
        values = texts(item.get("values"), f"{at}/{index}/values", flaws, "values")
        if (operator in ("In", "NotIn")) is not bool(values):
            said = "needs values" if operator in ("In", "NotIn") else "takes no values"
            flaws.append(Flaw(f"{at}/{index}", f"{operator} {said}"))
        requirements.append(_Requirement(str(item.get("key", "")), operator, values))
    return LabelSelector(tuple(labels.items()), tuple(requirements))
