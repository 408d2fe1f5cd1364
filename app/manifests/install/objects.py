"""A whole installation, in the order in which to apply it, and in that in which to take it away."""

from typing import Any

from app.manifests.client import Service
from app.manifests.guard import guard
from app.manifests.install.availability import availability, priority_quota
from app.manifests.install.cert_manager import ca_injection, cert_manager
from app.manifests.install.keeper import keeper
from app.manifests.install.namespace import namespace, policy_map
from app.manifests.install.network import network
from app.manifests.install.scan import scan
from app.manifests.install.server import server
from app.manifests.install.settings import Installation
from app.manifests.objects import configurations, empty_configurations
from app.manifests.parts import Scope
from app.policy.compiled import Policy


def install(policy: Policy, installation: Installation, scope: Scope = "broad") -> list[dict[str, Any]]:
    """The objects: what others need first, the webhook configurations last.

    With the keeper the configurations are empty; it fills them once servers are there to answer. Else they are of
    ``scope``: `broad`, as a change of the policy reaches servers and API server at different times.
    """
    added = [kind.resource for kind in policy.workload_kinds]
    made = [
        namespace(installation),
        priority_quota(installation),
        policy_map(installation),
        *(cert_manager(installation) if installation.certificates == "cert-manager" else []),
        *server(installation),
        *network(installation),
        *availability(installation),
        *(keeper(installation) if installation.keeper else []),
        *(scan(installation, added) if installation.reports else []),
        *guard(),
    ]
    if installation.filled:
        return made + empty_configurations()
    injects = installation.certificates == "cert-manager" and not installation.keeper
    injected = ca_injection(installation) if injects else {}
    return made + configurations(policy, installation.service, scope, injected)


def uninstall(service: Service) -> list[dict[str, Any]]:
    """What names the objects of any installation with this Service, in the order in which to delete them.

    First what can refuse anything: the webhook configurations, the guard. The namespace comes last, with all that is
    in it, also what the keeper made. The reports in other namespaces go with the role that owns them.
    """
    installation = Installation(service)
    whole = [*keeper(installation), *scan(installation), *guard(), *empty_configurations()]
    wide = [each for each in whole if "namespace" not in each["metadata"]]
    inside = [each for each in [*server(installation), *keeper(installation)] if each["kind"] == "Deployment"]
    return [_named(each) for each in [*reversed(wide), *inside, namespace(installation)]]


def _named(each: dict[str, Any]) -> dict[str, Any]:
    place = {key: value for key, value in each["metadata"].items() if key in ("name", "namespace")}
    return {"apiVersion": each["apiVersion"], "kind": each["kind"], "metadata": place}
