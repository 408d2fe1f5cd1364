"""The webhook configurations: which pods of which namespaces go to which path, and what a failure means."""

from dataclasses import dataclass
from typing import Any, Final

from app.admission.webhook import Phase
from app.manifests.parts import Part, Scope, joint_parts, parts
from app.manifests.selectors import Namespaces, namespaces
from app.policy.compiled import Policy

PHASES: Final[tuple[Phase, ...]] = ("mutate", "validate")

_STRICT_SECONDS: Final = 3
_LENIENT_SECONDS: Final = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a webhook configuration, without the address of the server."""

    phase: Phase
    namespaces: Namespaces
    part: Part

    @property
    def name(self) -> str:
        """``<phase>-<mode>[-pinned][-<part>].gpugate.dev``."""
        pinned = "pinned" if self.namespaces.pinned else ""
        return "-".join(filter(None, (self.phase, self.namespaces.mode, pinned, self.part.name))) + ".gpugate.dev"

    @property
    def endpoint(self) -> str:
        """The path of what is called, without the digest of the scope."""
        return f"{self.phase}/{self.namespaces.mode}"

    def webhook(self, client_config: dict[str, Any]) -> dict[str, Any]:
        """The entry as the API has it, every default written out."""
        rules = [_rule("CREATE", "pods")]
        condition, selector = ("pods", self.part.condition), self.namespaces.selector
        webhook = made_webhook(self.name, client_config, selector, rules, condition, self.part.strict)
        if self.phase == "mutate":
            # The validating call judges the end. IfNeeded would double the calls, as the RuntimeClass plugin
            # changes each pod that is given a class.
            webhook["reinvocationPolicy"] = "Never"
        else:
            # The condition leaves out the updates that cannot make a pod worse, and those of a pod's deletion:
            # without it, an outage would keep finalizers from being removed.
            webhook["rules"].append(_rule("UPDATE", "pods", "pods/ephemeralcontainers"))
        return webhook


def made_webhook(
    name: str,
    client_config: dict[str, Any],
    selector: dict[str, Any],
    rules: list[dict[str, Any]],
    condition: tuple[str, str],
    strict: bool,
) -> dict[str, Any]:
    """An entry with every default written out, but for ``reinvocationPolicy``.

    ``condition`` is a name and an expression; with ``strict`` the entry fails closed.
    """
    return {
        "name": name,
        "clientConfig": client_config,
        "namespaceSelector": selector,
        "objectSelector": {},
        "rules": rules,
        "matchPolicy": "Equivalent",
        "matchConditions": [{"name": condition[0], "expression": condition[1]}],
        "failurePolicy": "Fail" if strict else "Ignore",
        "timeoutSeconds": _STRICT_SECONDS if strict else _LENIENT_SECONDS,
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }


def _rule(operation: str, *resources: str) -> dict[str, Any]:
    return {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": [operation],
        "resources": list(resources),
        "scope": "Namespaced",
    }


def entries(policy: Policy, phase: Phase, scope: Scope = "tight") -> list[Entry]:
    """The entries of one phase, by mode; none where the engine has nothing to do in it."""
    return [Entry(phase, each, part) for each in namespaces(policy) for part in parts(policy, phase, each.mode, scope)]


def joint_entries(old: Policy, new: Policy, phase: Phase) -> list[Entry]:
    """The entries of one phase while servers change from one policy to another: what either judges, in the modes of
    the old one.

    A namespace whose mode changes keeps the old one until every server runs the new policy: its new mode would else
    begin with the old rules.
    """
    return [Entry(phase, each, part) for each in namespaces(old) for part in joint_parts(old, new, phase, each.mode)]
