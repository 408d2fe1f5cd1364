"""Which lists of the Kubernetes API merge by key, for the kinds that hold pods.

Source: the patch strategies of the API's OpenAPI document as kustomize carries them. A list that is not named here is
replaced as a whole, as tolerations are; so is every list of a kind that is not known (a custom resource).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Optional


@dataclass(frozen=True, slots=True)
class Schema:
    """``keys``: for a list that merges, the fields that identify an element; ``("",)`` if that is the element itself.

    ``fields`` are those of a map, or of the elements of the list.
    """

    fields: Mapping[str, "Schema"] = field(default_factory=dict)
    keys: tuple[str, ...] = ()

    def at(self, name: str) -> Optional["Schema"]:
        """The schema of a field; None for one that nothing is known of."""
        return self.fields.get(name)


def _list(*keys: str, **fields: Schema) -> Schema:
    return Schema(fields, keys)


_METADATA: Final = Schema({"finalizers": _list(""), "ownerReferences": _list("uid")})
_CONTAINER: Final = {
    "env": _list("name"),
    "ports": _list("containerPort", "protocol"),
    "volumeDevices": _list("devicePath"),
    "volumeMounts": _list("mountPath"),
}
_POD_SPEC: Final = Schema(
    {
        "containers": _list("name", **_CONTAINER),
        "initContainers": _list("name", **_CONTAINER),
        "ephemeralContainers": _list("name", **_CONTAINER),
        "hostAliases": _list("ip"),
        "imagePullSecrets": _list("name"),
        "topologySpreadConstraints": _list("topologyKey", "whenUnsatisfiable"),
        "volumes": _list("name"),
    }
)
_POD: Final = Schema({"metadata": _METADATA, "spec": _POD_SPEC})
_OTHER: Final = Schema({"metadata": _METADATA})
_CONTROLLER: Final = Schema({"metadata": _METADATA, "spec": Schema({"template": _POD})})
_CRON_JOB: Final = Schema({"metadata": _METADATA, "spec": Schema({"jobTemplate": _CONTROLLER})})
_KINDS: Final = {
    ("v1", "Pod"): _POD,
    ("v1", "PodTemplate"): Schema({"metadata": _METADATA, "template": _POD}),
    ("v1", "ReplicationController"): _CONTROLLER,
    ("apps/v1", "DaemonSet"): _CONTROLLER,
    ("apps/v1", "Deployment"): _CONTROLLER,
    ("apps/v1", "ReplicaSet"): _CONTROLLER,
    ("apps/v1", "StatefulSet"): _CONTROLLER,
    ("batch/v1", "CronJob"): _CRON_JOB,
    ("batch/v1", "Job"): _CONTROLLER,
    ("batch/v1beta1", "CronJob"): _CRON_JOB,
}


def schema_of(resource: dict[str, Any]) -> Schema:
    """What is known of the resource's kind."""
    version, kind = resource.get("apiVersion"), resource.get("kind")
    known = _KINDS.get((version, kind)) if isinstance(version, str) and isinstance(kind, str) else None
    return known or _OTHER
