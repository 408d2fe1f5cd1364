"""tolerations: added to spec.tolerations as the policy writes them, unless the very same is there."""

from collections.abc import Iterator
from typing import Any

from app.inject.draft import Change, Draft


def inject(tolerations: tuple[dict[str, Any], ...], draft: Draft) -> Iterator[Change]:
    """One change for each toleration that is missing."""
    for toleration in tolerations:
        if toleration not in draft.tolerations:
            shown = ", ".join(f"{key}: {value}" for key, value in toleration.items())
            operation = draft.add_toleration(dict(toleration))
            yield Change(f"{draft.pod.spec_pointer}/tolerations", f"toleration {{{shown}}} added", [operation])
