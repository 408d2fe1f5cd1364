"""What the shipped policy has that a migrated one lacks."""

from collections.abc import Iterator
from typing import Any

from app.rules.registry import RULES


def additions(document: dict[str, Any], shipped: dict[str, Any]) -> Iterator[str]:
    """A line for each rule, repair, injection and exemption of the shipped document that this one lacks."""
    own = {each["rule"]: each for each in document["spec"].get("rules", [])}
    for rule in shipped["spec"]["rules"]:
        name = rule["rule"]
        if name not in own:
            action = f" (action: {rule['action']})" if "action" in rule else ""
            yield f"rule {name}{action}: {RULES[name].summary}"
        elif rule.get("repair") and not own[name].get("repair"):
            yield f"repair of {name}: what has one right answer is set rather than refused"
    injected = document["spec"].get("inject", [])
    for entry in shipped["spec"]["inject"]:
        if entry.get("taints") and not any(each.get("tolerations") or each.get("taints") for each in injected):
            keys = ", ".join(f"{each['key']}={each['value']}:{each['effect']}" for each in entry["taints"])
            yield f"injection of tolerations for {keys}"
        if entry.get("nodeSelector") and not any(each.get("nodeSelector") for each in injected):
            pairs = ", ".join(f"{key}={value}" for key, value in entry["nodeSelector"].items())
            yield f"injection of the nodeSelector {pairs}"
    if "exempt" not in document["spec"]:
        yield f"exempt namespaces: {', '.join(shipped['spec']['exempt']['namespaces'])}"
    if "labels" not in document["spec"]["modes"]:
        yield "modes by the label of a namespace, audit until it says otherwise"
