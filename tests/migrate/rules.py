"""Rules of Kyverno in short."""

from typing import Any

import yaml

from app.migrate.migrate import migrate
from app.migrate.row import Migration, Row
from app.sources.policies import shipped_policy

SHIPPED: dict[str, Any] = yaml.safe_load(shipped_policy().read_text(encoding="utf-8"))
GPU = '{{ request.object.spec.containers[].resources.limits."nvidia.com/gpu" || `[]` }}'
ASKS = {"key": GPU, "operator": "NotEquals", "value": []}
"""The condition that a pod asks for GPUs."""


def rule(*preconditions: dict[str, Any], name: str = "checked", **fields: Any) -> dict[str, Any]:
    """A rule for pods."""
    made: dict[str, Any] = {"name": name, "match": {"any": [{"resources": {"kinds": ["Pod"]}}]}}
    if preconditions:
        made["preconditions"] = {"all": list(preconditions)}
    return {**made, **fields}


def pattern(spec: dict[str, Any], *preconditions: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A rule that validates by a pattern of the spec."""
    return rule(*preconditions, validate={"message": "said", "pattern": {"spec": spec}}, **fields)


def deny(*conditions: dict[str, Any], gpu: bool = True) -> dict[str, Any]:
    """A rule that denies by conditions."""
    return rule(
        *([ASKS] if gpu else []), validate={"message": "said", "deny": {"conditions": {"any": list(conditions)}}}
    )


def patch(spec: dict[str, Any], *preconditions: dict[str, Any]) -> dict[str, Any]:
    """A rule that merges into the spec."""
    return rule(*preconditions, mutate={"patchStrategicMerge": {"spec": spec}})


def operations(*listed: str) -> dict[str, Any]:
    """A rule for GPU pods with a JSON patch."""
    return rule(ASKS, mutate={"patchesJson6902": "".join(f"- {each}\n" for each in listed)})


def policy(*rules: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """A ClusterPolicy of these rules."""
    return {
        "apiVersion": "kyverno.io/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": "original"},
        "spec": {"validationFailureAction": "Enforce", **spec, "rules": list(rules)},
    }


def migrated(*rules: dict[str, Any], **spec: Any) -> Migration:
    """What becomes of a policy of these rules."""
    return migrate([policy(*rules, **spec)], SHIPPED)


def row(made: dict[str, Any]) -> Row:
    """What becomes of one rule."""
    (found,) = migrated(made).rows
    return found
