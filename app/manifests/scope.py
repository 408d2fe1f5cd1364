"""A digest of what the webhook configurations of a policy let through to the server.

The configurations carry it in the paths that they call. A server whose own policy has another one knows that the
API server may keep pods from it that it should see.
"""

from hashlib import sha256
from typing import Final

import orjson

from app.manifests.advisory import every_entry
from app.manifests.parts import Scope
from app.manifests.webhooks import PHASES
from app.policy.compiled import Policy

_LENGTH: Final = 16


def scope_digest(policy: Policy, scope: Scope = "tight") -> str:
    """16 hexadecimal digits that stand for all entries: selectors, conditions, failure policies.

    What changes only what the server answers (messages, help, parameters that no condition depends on) leaves it
    the same.
    """
    webhooks = [entry.webhook({}) for phase in PHASES for entry in every_entry(policy, phase, scope)]
    return sha256(orjson.dumps(webhooks, option=orjson.OPT_SORT_KEYS)).hexdigest()[:_LENGTH]


def scope_digests(policy: Policy) -> frozenset[str]:
    """The digests with which everything that the policy judges is sent to the server: those of both scopes."""
    return frozenset((scope_digest(policy, "tight"), scope_digest(policy, "broad")))
