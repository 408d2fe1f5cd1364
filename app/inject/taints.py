"""taints: GPU pods tolerate the taints of GPU nodes.

Adds {key, operator: Exists, effect} to spec.tolerations for each listed taint that nothing in the pod tolerates.
The operator is written out: the RuntimeClass plugin, which merges tolerations, recognises no other spelling
(k8s.io/kubernetes pkg/util/tolerations/tolerations.go isSuperset, v1.37.2).
"""

from collections.abc import Iterator

from app.inject.draft import Change, Draft
from app.model.toleration import Taint, tolerated


def inject(taints: tuple[Taint, ...], draft: Draft) -> Iterator[Change]:
    """One change for each taint that is not tolerated."""
    for taint in taints:
        if not tolerated(draft.tolerations, taint):
            operation = draft.add_toleration({"key": taint.key, "operator": "Exists", "effect": taint.effect})
            said = f"toleration added for the GPU nodes' taint {taint}"
            yield Change(f"{draft.pod.spec_pointer}/tolerations", said, [operation])
