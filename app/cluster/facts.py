"""What a cluster has that decides on pods: RuntimeClasses, and what ResourceClaimTemplates ask for."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from app.cluster.client import Cluster
from app.cluster.discovery import Resource
from app.cluster.errors import ClusterError
from app.model.context import UNKNOWN_CLUSTER, ClusterFacts
from app.workloads.facts import claim_template, runtime_class

_RUNTIME_CLASSES: Final = "/apis/node.k8s.io/v1/runtimeclasses"
CLAIM_TEMPLATES: Final = ("resource.k8s.io", "ResourceClaimTemplate")
"""The (group, kind) of what says which device classes a pod's claims are for."""


def cluster_facts(
    cluster: Cluster, claim_templates: Resource | None, namespaces: Iterable[str | None] = (None,)
) -> tuple[ClusterFacts, list[ClusterError]]:
    """The facts, and why a part of them is not known.

    ``claim_templates`` is the resource of CLAIM_TEMPLATES, None in a cluster without dynamic resource allocation; those
    of these namespaces are read, or of all for None.
    """
    facts, errors = UNKNOWN_CLUSTER, []
    try:
        classes = [found for obj in _objects(cluster, _RUNTIME_CLASSES) if (found := runtime_class(obj)) is not None]
        facts = replace(facts, runtime_classes={each.name: each for each in classes})
    except ClusterError as error:
        errors.append(error)
    try:
        paths = [claim_templates.path(namespace) for namespace in namespaces] if claim_templates else []
        objects = (obj for path in paths for obj in _objects(cluster, path))
        claims = [claim for obj in objects if (claim := claim_template(obj)) is not None]
        facts = replace(facts, claims={(each.namespace or "", each.name): each.device_classes for each in claims})
    except ClusterError as error:
        errors.append(error)
    return facts, errors


def _objects(cluster: Cluster, path: str) -> Iterator[dict[str, Any]]:
    for page in cluster.pages(path):
        yield from page
