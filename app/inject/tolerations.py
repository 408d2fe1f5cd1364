"""tolerations: added to spec.tolerations as the policy writes them, unless the very same is there.

An empty text is the same as none: the API server leaves it out when it stores the pod.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from app.inject.draft import Change, Draft


def inject(tolerations: tuple[dict[str, Any], ...], draft: Draft) -> Iterator[Change]:
    """One change for each toleration that is missing."""
    for written in tolerations:
        toleration = _given(written)
        if all(_given(present) != toleration for present in draft.tolerations):
            shown = ", ".join(f"{key}: {value}" for key, value in toleration.items())
            operation = draft.add_toleration(toleration)
            yield Change(f"{draft.pod.spec_pointer}/tolerations", f"toleration {{{shown}}} added", [operation])


def _given(toleration: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that say something."""
    return {key: value for key, value in toleration.items() if value is not None and value != ""}
