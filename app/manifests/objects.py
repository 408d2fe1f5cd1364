"""Everything that a policy means for a cluster, as objects for `kubectl apply`, and as text."""

from collections.abc import Sequence
from typing import Any, Final

from app.admission.webhook import Phase
from app.documents.dump import dump
from app.manifests.advisory import AnyEntry, every_entry
from app.manifests.client import Client, Service
from app.manifests.guard import guard
from app.manifests.metadata import metadata
from app.manifests.parts import Scope
from app.manifests.scope import scope_digest
from app.manifests.selectors import without
from app.manifests.webhooks import PHASES
from app.policy.compiled import Policy

NAME: Final = "gpugate"
POLICY_ANNOTATION: Final = "gpugate.dev/policy-digest"
SCOPE_ANNOTATION: Final = "gpugate.dev/scope-digest"

_KINDS: Final[dict[Phase, str]] = {
    "mutate": "MutatingWebhookConfiguration",
    "validate": "ValidatingWebhookConfiguration",
}


def objects(policy: Policy, client: Client, scope: Scope = "tight") -> list[dict[str, Any]]:
    """The objects in the order in which to apply them: the guard of the label before what obeys it."""
    return [*guard(), *configurations(policy, client, scope)]


def configurations(
    policy: Policy, client: Client, scope: Scope, annotations: dict[str, str] | None = None
) -> list[dict[str, Any]]:
    """The two webhook configurations, with these annotations beside their own."""
    digest = scope_digest(policy, scope)
    own = {POLICY_ANNOTATION: policy.digest, SCOPE_ANNOTATION: digest, **(annotations or {})}
    return [configuration(phase, client, every_entry(policy, phase, scope), own) for phase in PHASES]


def empty_configurations() -> list[dict[str, Any]]:
    """The two webhook configurations without entries: applying them leaves alone what another fills in."""
    return [_empty(phase) for phase in PHASES]


def _empty(phase: Phase, annotations: dict[str, str] | None = None) -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": _KINDS[phase],
        "metadata": metadata(NAME, "webhook", annotations),
    }


def configuration(
    phase: Phase, client: Client, listed: Sequence[AnyEntry], annotations: dict[str, str]
) -> dict[str, Any]:
    """The configuration of one phase with these entries, whose paths carry the scope digest of the annotations."""
    digest = annotations[SCOPE_ANNOTATION]
    webhooks = [each.webhook(client.config(f"/{each.endpoint}/{digest}")) for each in listed]
    if isinstance(client, Service):
        # Whatever the policy says: a server that cannot start because no server answers would stay away for good.
        for webhook in webhooks:
            webhook["namespaceSelector"] = without(webhook["namespaceSelector"], client.namespace)
    made = _empty(phase, annotations)
    # Without entries it is still written, so that applying it takes away those of an earlier policy.
    return {**made, "webhooks": webhooks} if webhooks else made


def text(listed: list[dict[str, Any]]) -> str:
    """The objects as YAML documents, keys in their order, expressions of several lines as such."""
    return "".join(f"---\n{dump(each, indent_lists=True)}" for each in listed)
