"""What can go wrong between a command and a cluster. The text of each error is one line for the user."""

import re
from typing import Any, Final, NamedTuple

from app.admission.review import printable

_NOT_ALLOWED: Final = re.compile(r'User "([^"]*)" cannot \S+ resource')
"""How the API server's authorizer says no (k8s.io/apiserver, pkg/endpoints/handlers/responsewriters/errors.go). An
admission plugin that refuses answers 403 too, in words of its own."""
_SERVICE_ACCOUNT: Final = "system:serviceaccount:"


class ClusterError(Exception):
    """A cluster did not do what it was asked to."""


class NotConfigured(ClusterError):
    """There is no kubeconfig, or it does not say how to reach a cluster."""


class Unreachable(ClusterError):
    """Nothing that speaks the Kubernetes API answers at the address."""


class Unauthenticated(ClusterError):
    """401: the credentials are none, or have expired."""


class Forbidden(ClusterError):
    """403: the user may not do this; or an admission plugin refused it."""


class NotFound(ClusterError):
    """404: there is no such object, or no such resource."""


class Conflict(ClusterError):
    """409: the object is there already, or has changed since it was read."""


class Expired(ClusterError):
    """410: the state of the cluster that was asked for is too old to be known.

    ``resume`` is a continue token for the rest of a list as it is now, where the API server gives one.
    """

    resume: str | None = None


class Unavailable(ClusterError):
    """429 or 5xx, also after having been asked again."""


class Rejected(ClusterError):
    """Any other answer that is no success, such as 400 and 422."""


_BY_STATUS: Final[dict[int, type[ClusterError]]] = {
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Expired,
    429: Unavailable,
}


class Target(NamedTuple):
    """What a path of the API is about; ``namespace``, ``name`` and ``subresource`` are "" where it names none."""

    group: str
    resource: str
    namespace: str
    name: str
    subresource: str

    @property
    def resources(self) -> str:
        """The resource as RBAC has it: ``pods``, ``pods/status``."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource

    @property
    def title(self) -> str:
        """The object or list in words: ``deployments.apps "web" in namespace "team-a"``."""
        kind = f"{self.resources}.{self.group}" if self.group else self.resources
        name = f' "{self.name}"' if self.name else ""
        return f"{kind}{name}{self.scope}"

    @property
    def scope(self) -> str:
        """`` in namespace "team-a"``; "" for what is cluster-wide."""
        return f' in namespace "{self.namespace}"' if self.namespace else ""


def target_of(path: str) -> Target | None:
    """What a path such as ``/apis/apps/v1/namespaces/team-a/deployments/web`` is about; None for another path."""
    parts = path.strip("/").split("/")
    if parts[0] == "api" and len(parts) > 2:
        group, rest = "", parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, rest = parts[1], parts[3:]
    else:
        return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    resource, name, subresource = (*rest, "", "")[:3]
    return Target(group, resource, namespace, name, subresource)


def verb_of(method: str, target: Target, *, watch: bool = False) -> str:
    """The verb that RBAC knows a request by."""
    if method == "GET":
        return "watch" if watch else "get" if target.name else "list"
    if method == "DELETE":
        return "delete" if target.name else "deletecollection"
    return {"POST": "create", "PUT": "update", "PATCH": "patch"}[method]


def error_of(status: int, answer: dict[str, Any], method: str, path: str, where: str, *, watch: bool) -> ClusterError:
    """The error of an answer; ``answer`` is the API server's Status, ``where`` names the cluster."""
    said = printable(str(answer.get("message") or f"status {status}")).strip()
    target = target_of(path)
    what = f"{verb_of(method, target, watch=watch)} {target.title}" if target else f"{method} {path}"
    if status == 401:
        return Unauthenticated(
            f"{where} does not accept the credentials (401): the token or certificate has expired or is not of this "
            "cluster; log in again, or choose another --context"
        )
    refused = _NOT_ALLOWED.search(said)
    if status == 403 and refused and target:
        return Forbidden(_missing_right(refused[1], verb_of(method, target, watch=watch), target))
    if status == 404 and target and target.name:
        return NotFound(f"{target.title} was not found in {where}")
    if status == 404:
        return NotFound(f"{where} has no {target.title if target else path}")
    kind = _BY_STATUS.get(status, Unavailable if status >= 500 else Rejected)
    error = kind(f"{where} answered {status} to {what}: {said}")
    if isinstance(error, Expired):
        error.resume = (answer.get("metadata") or {}).get("continue")
    return error


def _missing_right(user: str, verb: str, target: Target) -> str:
    """Who may not do what, and which rule of a role would allow it."""
    name = f' "{target.name}"' if target.name and verb != "create" else ""
    everywhere = "" if target.namespace else " in the whole cluster"
    kind = "Role" if target.namespace else "ClusterRole"
    in_words = f"{target.resources}.{target.group}" if target.group else target.resources
    return (
        f"{_person(user)} may not {verb} {in_words}{name}{target.scope or everywhere}: a {kind} with "
        f'{{apiGroups: ["{target.group}"], resources: ["{target.resources}"], verbs: ["{verb}"]}} and a {kind}Binding '
        "to it grant this"
    )


def _person(user: str) -> str:
    if not user.startswith(_SERVICE_ACCOUNT):
        return f'user "{user}"'
    return f"ServiceAccount {user.removeprefix(_SERVICE_ACCOUNT).replace(':', '/', 1)}"
