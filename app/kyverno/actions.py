"""What a failed rule means: Audit or Enforce, and that in some namespaces."""

from typing import Any, Literal, NamedTuple

from app.kyverno.selectors import LabelSelector, compile_selector
from app.kyverno.shapes import a_list, a_map, only_keys, suggestion, texts
from app.kyverno.types import Flaw
from app.kyverno.values import wildcard

Action = Literal["Audit", "Enforce"]


class Override(NamedTuple):
    """Another action for some namespaces."""

    action: Action
    namespaces: tuple[str, ...]
    selector: LabelSelector | None

    def covers(self, namespace: str, labels: dict[str, str]) -> bool:
        """Whether the namespace is one of these."""
        return (not self.namespaces or any(wildcard(each, namespace) for each in self.namespaces)) and (
            self.selector is None or self.selector.selects(labels)
        )


def read_action(value: Any, pointer: str, flaws: list[Flaw]) -> Action:
    """The action that a failure has; Audit where none is written."""
    if type(value) is str and value.lower() in ("audit", "enforce"):
        return "Enforce" if value.lower() == "enforce" else "Audit"
    if value is not None:
        flaw = Flaw(pointer, f'the action cannot be "{value}"; {suggestion(value, ("Audit", "Enforce"))}')
        if flaw not in flaws:  # that of the policy is read for each of its rules
            flaws.append(flaw)
    return "Audit"


def read_overrides(value: Any, pointer: str, flaws: list[Flaw]) -> tuple[Override, ...]:
    """The actions for some namespaces, of which the first that covers one counts."""
    found = []
    for index, item in enumerate([] if value is None else a_list(value, pointer, flaws, "overrides")):
        at = f"{pointer}/{index}"
        if not a_map(item, at, flaws, "an override"):
            continue
        only_keys(item, ("action", "namespaces", "namespaceSelector"), at, flaws, "an override")
        action = read_action(item.get("action"), f"{at}/action", flaws)
        namespaces = texts(item.get("namespaces"), f"{at}/namespaces", flaws, "namespaces")
        selector = compile_selector(item.get("namespaceSelector"), f"{at}/namespaceSelector", flaws)
        found.append(Override(action, namespaces, selector))
    return tuple(found)
