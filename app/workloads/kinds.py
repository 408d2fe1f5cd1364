"""The kinds that hold pods, as data.

A kind is known by its group too: a Job of ``batch.volcano.sh`` is not a Job of ``batch``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Kind:
    """Where an object of this kind has its pods.

    ``paths`` are JSON Pointers of pod specs; the step ``*`` stands for any key or index. ``validated`` tells that the
    API server validates the template by itself when the object is applied, before any pod is made of it;
    ``daemonset`` that a pod of it belongs on every node.
    """

    paths: tuple[str, ...]
    validated: bool = False
    daemonset: bool = False


Kinds = Mapping[tuple[str, str], Kind]
"""Kinds by (group, kind); the group of ``v1`` is ""."""

_TEMPLATE: Final = Kind(("/spec/template/spec",), validated=True)

CORE_KINDS: Final[dict[tuple[str, str], Kind]] = {
    ("", "Pod"): Kind(("/spec",)),
    ("", "PodTemplate"): Kind(("/template/spec",), validated=True),
    ("", "ReplicationController"): _TEMPLATE,
    ("apps", "Deployment"): _TEMPLATE,
    ("apps", "StatefulSet"): _TEMPLATE,
    ("apps", "DaemonSet"): Kind(("/spec/template/spec",), validated=True, daemonset=True),
    ("apps", "ReplicaSet"): _TEMPLATE,
    ("batch", "Job"): _TEMPLATE,
    ("batch", "CronJob"): Kind(("/spec/jobTemplate/spec/template/spec",), validated=True),
}
"""The kinds that every cluster has."""


def group_kind(obj: Mapping[str, Any]) -> tuple[str, str] | None:
    """The (group, kind) of an object; None where it does not say, or names a version that the core group never had."""
    version, kind = obj.get("apiVersion"), obj.get("kind")
    if type(version) is not str or type(kind) is not str:
        return None
    group, slash, _ = version.rpartition("/")
    return (group, kind) if slash or version == "v1" else None
