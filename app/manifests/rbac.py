"""Rights, each with what it is for, and the roles and bindings made of them."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

RBAC: Final = "rbac.authorization.k8s.io"


class Right(NamedTuple):
    """One rule of a Role or ClusterRole; ``why`` is what is done with it, and what becomes of it without."""

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    names: tuple[str, ...]
    why: str

    def rule(self) -> dict[str, Any]:
        """The PolicyRule."""
        rule = {"apiGroups": [self.group], "resources": list(self.resources), "verbs": list(self.verbs)}
        return {**rule, "resourceNames": list(self.names)} if self.names else rule


def role(kind: str, meta: dict[str, Any], rights: Iterable[Right]) -> dict[str, Any]:
    """A Role or ClusterRole."""
    return {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": meta, "rules": [right.rule() for right in rights]}


def binding(kind: str, meta: dict[str, Any], account: str, namespace: str) -> dict[str, Any]:
    """The binding of a role of the same name to a ServiceAccount."""
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": f"{kind}Binding",
        "metadata": meta,
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": meta["name"]},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
    }
