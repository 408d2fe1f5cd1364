"""Policies and resources in short."""

from typing import Any

from app.kyverno.engine import Judging, apply
from app.kyverno.patterns import compile_pattern
from app.kyverno.policy import ClusterPolicy, compile_policy
from app.kyverno.types import Request, Response, RuleResult


def policy(*rules: dict[str, Any], name: str = "checked", **spec: Any) -> dict[str, Any]:
    """A ClusterPolicy of these rules, each for pods unless it says otherwise."""
    return {
        "apiVersion": "kyverno.io/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": name},
        "spec": {"validationFailureAction": "Enforce", **spec, "rules": [rule(**each) for each in rules]},
    }


def rule(*, name: str = "rule", kinds: tuple[str, ...] = ("Pod",), **fields: Any) -> dict[str, Any]:
    """A rule for kinds."""
    return {"name": name, "match": {"any": [{"resources": {"kinds": list(kinds)}}]}, **fields}


def compiled(*rules: dict[str, Any], **spec: Any) -> ClusterPolicy:
    """The same, compiled."""
    return compile_policy(policy(*rules, **spec))


def pod(spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    """A pod."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "team-a", **metadata},
        "spec": spec if spec is not None else {"containers": [{"name": "web", "image": "nginx:1"}]},
    }


def applied(policy: ClusterPolicy, resource: dict[str, Any], **request: Any) -> Response:
    """All that the policy says of the resource, created in the namespace team-a."""
    return apply(policy, Judging(Request(resource, **{"namespace": "team-a", **request})))


def only(policy: ClusterPolicy, resource: dict[str, Any], **request: Any) -> RuleResult:
    """The one result that the policy has for the resource."""
    (result,) = applied(policy, resource, **request).results
    return result


def matched(pattern: Any, value: Any) -> str:
    """What a pattern says of a value: pass, skip or fail."""
    mismatch = compile_pattern(pattern).check(value)
    return "pass" if mismatch is None else "skip" if mismatch.skip else "fail"
