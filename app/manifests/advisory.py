"""The entries of the validating configuration that are not about pods: advice on what makes pods, and on namespaces.

They fail open, but for the creation of kinds that the policy refuses (`workloads.refuse`) in `enforce`. What a
controller made of another object is not sent, nor is an update that leaves the templates as they are. Of the core
kinds, which everybody uses, only objects are sent whose templates the policy can have something to say of.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.admission.webhook import Phase
from app.manifests.conditions import broad, gpu_templates, tight
from app.manifests.parts import Scope
from app.manifests.selectors import Namespaces, namespaces
from app.manifests.webhooks import Entry, entries, made_webhook
from app.model import cel
from app.policy.compiled import MODE_LABEL, Policy
from app.policy.kinds import advised

_CREATED: Final = 'request.operation == "CREATE"'
_NOT_DELETED: Final = "!has(object.metadata.deletionTimestamp)"
_NO_CONTROLLER: Final = "!object.metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false))"
_CORE_GROUPS: Final = ("", "apps", "batch")
_CUSTOM: Final = f"!(request.resource.group in {cel.texts(_CORE_GROUPS)})"
"""Where the templates of a custom resource are is known to the server only."""

_TEMPLATES: Final = "[?object.?spec.?template, ?object.?spec.?jobTemplate.?spec.?template, ?object.?template]"
"""Those of the core kinds; each object has one."""


@dataclass(frozen=True, slots=True)
class Advisory:
    """One entry; ``endpoint`` is the path of what is called, without the digest of the scope."""

    name: str
    endpoint: str
    selector: dict[str, Any]
    rules: Sequence[dict[str, Any]]
    condition: tuple[str, str]
    strict: bool = False

    def webhook(self, client_config: dict[str, Any]) -> dict[str, Any]:
        """The entry as the API has it, every default written out."""
        return made_webhook(
            f"{self.name}.gpugate.dev", client_config, self.selector, list(self.rules), self.condition, self.strict
        )


AnyEntry = Entry | Advisory


def every_entry(policy: Policy, phase: Phase, scope: Scope = "tight") -> list[AnyEntry]:
    """The entries of one phase, those about pods first."""
    return [*entries(policy, phase, scope), *(advisory(policy, scope) if phase == "validate" else [])]


def advisory(policy: Policy, scope: Scope = "tight") -> list[Advisory]:
    """The entries: those of workloads, by mode, and that of namespaces."""
    conditions = broad(policy) if scope == "broad" else tight(policy)
    kyverno = (*conditions.changed, *conditions.noted, *conditions.advised)
    pods = (*gpu_templates(policy, scope), *conditions.claims, *conditions.refused, *conditions.noticed, *kyverno)
    said = policy.rules or policy.injections or policy.kyverno or scope == "broad"
    found = [entry for each in namespaces(policy) for entry in _workloads(policy, pods, each)] if said else []
    return [*found, _namespaces()]


def _workloads(policy: Policy, pods: Sequence[str], each: Namespaces) -> Iterator[Advisory]:
    resources = advised(policy)
    refused = policy.workloads_refused if each.mode == "enforce" else frozenset()
    name = "-".join(("advise", each.mode, *(["pinned"] if each.pinned else [])))
    warned = [*_rules(set(resources) - refused, "CREATE", "UPDATE"), *_rules(refused, "UPDATE")]
    condition = (
        "templates",
        _condition(pods, custom=any(group not in ("", "apps", "batch") for group, _ in resources.values())),
    )
    yield Advisory(name, f"advise/{each.mode}", each.selector, warned, condition)
    if refused:
        created = _rules(refused, "CREATE")
        yield Advisory(f"{name}-refused", f"advise/{each.mode}", each.selector, created, condition, strict=True)


def _condition(pods: Sequence[str], *, custom: bool) -> str:
    changes = [f"object.?{path} != oldObject.?{path}" for path in ("spec.?template", "spec.?jobTemplate", "template")]
    spoken = f"{_TEMPLATES}.exists(object,\n{cel.any_line(pods)})"  # inside, the template is called object
    if custom:
        changes.append(cel.all_of(_CUSTOM, "object.?spec != oldObject.?spec"))
        spoken = cel.any_of((_CUSTOM, spoken))
    return cel.lines((_NOT_DELETED, _NO_CONTROLLER, cel.any_of((_CREATED, *changes)), spoken))


def _rules(resources: set[str] | frozenset[str], *operations: str) -> list[dict[str, Any]]:
    """One rule a group. Of custom resources any version is sent, as it was written."""
    groups: dict[str, list[str]] = {}
    for resource in sorted(resources):
        name, _, group = resource.partition(".")
        groups.setdefault(group, []).append(name)
    return [
        {
            "apiGroups": [group],
            "apiVersions": ["v1" if group in _CORE_GROUPS else "*"],
            "operations": list(operations),
            "resources": names,
            "scope": "Namespaced",
        }
        for group, names in groups.items()
    ]


def _namespaces() -> Advisory:
    label = f"metadata.?labels[?{cel.text(MODE_LABEL)}]"
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["namespaces"],
        "scope": "Cluster",
    }
    # On creation there is no old object; a change is compared with nothing then.
    changed = f"object.{label} != (oldObject == null ? optional.none() : oldObject.{label})"
    return Advisory("namespace", "namespace", {}, [rule], ("label", changed))
