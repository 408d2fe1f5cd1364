"""What a cluster has that decides on pods: RuntimeClasses, and what ResourceClaimTemplates ask for."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from app.cluster.client import Cluster
from app.cluster.discovery import resources
from app.cluster.errors import ClusterError, NotFound
from app.model.context import UNKNOWN_CLUSTER, ClusterFacts
from app.workloads.facts import claim_template, runtime_class

_RUNTIME_CLASSES: Final = "/apis/node.k8s.io/v1/runtimeclasses"
_CLAIM_TEMPLATES: Final = ("resource.k8s.io", "ResourceClaimTemplate")


def cluster_facts(cluster: Cluster, namespace: str | None = None) -> tuple[ClusterFacts, list[ClusterError]]:
    """The facts, claim templates of one namespace or of all; and why a part of them is not known."""
    facts, errors = UNKNOWN_CLUSTER, []
    try:
        classes = [found for obj in _objects(cluster, _RUNTIME_CLASSES) if (found := runtime_class(obj)) is not None]
        facts = replace(facts, runtime_classes={each.name: each for each in classes})
    except ClusterError as error:
        errors.append(error)
    try:
        claims = {}
        for resource in resources(cluster, {_CLAIM_TEMPLATES}):
            for obj in _objects(cluster, resource.path(namespace)):
                if (claim := claim_template(obj)) is not None:
                    claims[claim.namespace or "", claim.name] = claim.device_classes
        facts = replace(facts, claims=claims)
    except NotFound:
        pass  # a cluster without dynamic resource allocation
    except ClusterError as error:
        errors.append(error)
    return facts, errors


def _objects(cluster: Cluster, path: str) -> Iterator[dict[str, Any]]:
    for page in cluster.pages(path):
        yield from page
