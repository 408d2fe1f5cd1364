"""The webhook configurations for while servers change from one policy to another.

They send what either policy judges, and fail closed where either would. Which server runs which policy does not matter
then: nothing that the new one refuses is kept from a server that has it. Their paths carry both scope digests, so that
servers of either policy know that they are meant.
"""

from typing import Any

from app.admission.webhook import Phase
from app.manifests.advisory import AnyEntry, advisory
from app.manifests.client import Client
from app.manifests.objects import POLICY_ANNOTATION, SCOPE_ANNOTATION, configuration, configurations
from app.manifests.scope import scope_digest
from app.manifests.webhooks import PHASES, joint_entries
from app.policy.compiled import Policy


def transition(old: Policy, new: Policy, client: Client) -> list[dict[str, Any]]:
    """The configurations that are wide enough for both policies; those of the old one if that is so already."""
    before, after = scope_digest(old), scope_digest(new)
    if before == after:
        return configurations(old, client, "tight")
    own = {POLICY_ANNOTATION: old.digest, SCOPE_ANNOTATION: f"{before}.{after}"}
    # Advice is asked for as before: it keeps nothing out.
    listed: dict[Phase, list[AnyEntry]] = {phase: [*joint_entries(old, new, phase)] for phase in PHASES}
    listed["validate"] += advisory(old)
    return [configuration(phase, client, listed[phase], own) for phase in PHASES]
