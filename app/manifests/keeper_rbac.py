"""The rights of `gpugate keeper`, each with what it is for.

Objects that the keeper makes itself need `create`, which RBAC cannot limit to a name; everything else is limited to
the names of its own objects. The server has no rights at all.
"""

from typing import Any, Final

from app.manifests.keeper_names import (
    AUTHORITY_SECRET,
    CERTIFICATE_SECRET,
    CLUSTER_FACTS,
    KEEPER,
    POLICY,
    POLICY_SOURCE,
)
from app.manifests.metadata import metadata
from app.manifests.objects import NAME
from app.manifests.rbac import Right, binding, role

_CONFIGURATIONS: Final = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")


CERTIFICATE_RIGHTS: Final = (
    Right("", ("secrets",), ("create",), (), "make the two Secrets, and make one anew that was deleted"),
    Right(
        "",
        ("secrets",),
        ("get", "update"),
        (AUTHORITY_SECRET, CERTIFICATE_SECRET),
        "renew the authority and the server's certificate",
    ),
)
NAMESPACE_RIGHTS: Final = (
    Right("", ("configmaps",), ("create",), (), "make the ConfigMaps of the servers' policy and of the cluster facts"),
    Right("", ("configmaps",), ("get",), (POLICY_SOURCE,), "read the policy that people wrote"),
    Right(
        "",
        ("configmaps",),
        ("get", "update"),
        (POLICY, CLUSTER_FACTS),
        "hand the policy on to the servers, and rewrite the facts",
    ),
    Right(
        "discovery.k8s.io",
        ("endpointslices",),
        ("list",),
        (),
        "find the servers, to ask which certificate and policy they use; without it, an old authority stays trusted "
        "and a policy change takes its longest time",
    ),
    Right("", ("events",), ("create",), (), "say at the policy's ConfigMap why a policy was refused; optional"),
)
READING_RIGHTS: Final = (
    Right("node.k8s.io", ("runtimeclasses",), ("list",), (), "cluster facts: which runtime classes exist; optional"),
    Right(
        "resource.k8s.io",
        ("deviceclasses", "resourceclaimtemplates"),
        ("list",),
        (),
        "cluster facts: which device class a pod's claim is for; optional",
    ),
    Right(
        "",
        ("pods",),
        ("list",),
        (),
        "cluster facts: which running workloads a stricter mode would refuse; optional",
    ),
)


def configuration_rights(name: str, *, create: bool = True) -> tuple[Right, ...]:
    """What the keeper may do with the two webhook configurations of this name.

    Not to ``create`` them where an installation has made them, without entries: it cannot bring back then what an
    uninstall takes away while it still runs, and holds no right over configurations of other names.
    """
    group = "admissionregistration.k8s.io"
    keep = Right(
        group,
        _CONFIGURATIONS,
        ("get", "update"),
        (name,),
        "keep them, and the authorities in them, in step with the policy and the certificates",
    )
    make = Right(group, _CONFIGURATIONS, ("create",), (), "make the two webhook configurations")
    return (make, keep) if create else (keep,)


def keeper_rbac(
    namespace: str,
    *,
    certificates: bool = True,
    create: bool = True,
    configuration: str = NAME,
    cluster_role: str = KEEPER,
) -> list[dict[str, Any]]:
    """ServiceAccount, Role, ClusterRole and their bindings for a keeper in this namespace.

    Without ``certificates`` (`gpugate keeper --no-certificates`) it may only read the Secret that somebody else makes.
    Without ``create`` the webhook configurations must be there.
    ``configuration`` is the name of the webhook configurations; ``cluster_role`` that of what is cluster-wide.
    """
    rights = CERTIFICATE_RIGHTS if certificates else (AUTHORITY_OF_OTHERS,)
    inside, wide = _namespaced(namespace), metadata(cluster_role, "keeper")
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": inside},
        role("Role", inside, (*rights, *NAMESPACE_RIGHTS)),
        binding("Role", inside, KEEPER, namespace),
        role("ClusterRole", wide, (*configuration_rights(configuration, create=create), *READING_RIGHTS)),
        binding("ClusterRole", wide, KEEPER, namespace),
    ]


AUTHORITY_OF_OTHERS: Final = Right(
    "", ("secrets",), ("get",), (CERTIFICATE_SECRET,), "read ca.crt of the certificate that somebody else makes"
)


def _namespaced(namespace: str) -> dict[str, Any]:
    found = metadata(KEEPER, "keeper")
    return {"name": found["name"], "namespace": namespace, "labels": found["labels"]}
