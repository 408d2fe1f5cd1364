"""Pods that show where two policies differ: those that GPU policies get wrong."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final, NamedTuple

from app.migrate.row import Reach

_OTHER_CLASS: Final = "another-class"
_PRIVILEGED: Final = {"privileged": True}


class Asked(NamedTuple):
    """What a rule is about, so that pods can be made that hold to it, and pods that do not.

    ``ids`` are the rules that it becomes, and what it injects; ``most`` GPUs are allowed.
    """

    ids: tuple[str, ...]
    resource: str
    runtime_class: str | None
    node_selector: dict[str, str]
    tolerations: tuple[dict[str, Any], ...]
    most: int | None


class Probe(NamedTuple):
    """A pod, under the name of what is special about it."""

    name: str
    pod: dict[str, Any]


def probes(asked: Asked, reach: Reach) -> Iterator[Probe]:
    """The pods, in a namespace and with labels that the rule is for."""
    limits = {asked.resource: "1"}
    gpu = {"name": "main", "image": "main:1", "resources": {"limits": limits}}
    cpu = {"name": "sidecar", "image": "sidecar:1", "resources": {"limits": {"cpu": "1"}}}

    def pod(*containers: dict[str, Any], init: tuple[dict[str, Any], ...] = (), **spec: Any) -> dict[str, Any]:
        spec = {"runtimeClassName": asked.runtime_class, **spec, "containers": list(containers)}
        if init:
            spec["initContainers"] = list(init)
        metadata = {"name": "probe", "namespace": namespace_of(reach), "labels": _labels(reach)}
        full = {key: value for key, value in spec.items() if value is not None}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": deepcopy(full)}

    def privileged(container: dict[str, Any]) -> dict[str, Any]:
        return {**container, "securityContext": _PRIVILEGED}

    def asking(name: str, requests: str | None, limit: str | None) -> dict[str, Any]:
        resources = {"requests": requests, "limits": limit}
        given = {key: {asked.resource: value} for key, value in resources.items() if value is not None}
        return {"name": name, "image": f"{name}:1", "resources": given}

    def with_variable(container: dict[str, Any], value: str) -> dict[str, Any]:
        return {**container, "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": value}]}

    init = {**gpu, "name": "setup"}
    yield Probe("plain", pod(gpu))
    yield Probe("cpu", pod(cpu))
    yield Probe("sidecar", pod(gpu, cpu))
    yield Probe("zero", pod(asking("main", None, "0"), runtimeClassName=None))
    if "limits-equal-requests" in asked.ids:
        yield Probe("request-only", pod(asking("main", "1", None)))
        yield Probe("differs", pod(asking("main", "1", "2")))
        yield Probe("init-request-only", pod(cpu, init=(asking("setup", "1", None),)))
    if "no-privileged" in asked.ids:
        debug = privileged({"name": "debug", "image": "debug:1"})
        yield Probe("privileged", pod(privileged(gpu)))
        yield Probe("privileged-sidecar", pod(gpu, privileged(cpu)))
        yield Probe("privileged-init", pod(gpu, init=(privileged({**cpu, "name": "setup"}),)))
        yield Probe("privileged-ephemeral", pod(gpu, ephemeralContainers=[debug]))
        yield Probe("privileged-beside-gpu-in-init", pod(privileged(cpu), init=(init,)))
    if "no-gpu-bypass" in asked.ids:
        device = {"name": "dev", "hostPath": {"path": "/dev/nvidia0"}}
        yield Probe("variable", pod(with_variable(cpu, "all")))
        yield Probe("variable-void", pod(with_variable(cpu, "void")))
        yield Probe("variable-in-init", pod(cpu, init=(with_variable({**cpu, "name": "setup"}, "all"),)))
        yield Probe("device", pod(cpu, volumes=[device]))
    if asked.runtime_class:
        yield Probe("no-class", pod(gpu, runtimeClassName=None))
        yield Probe("other-class", pod(gpu, runtimeClassName=_OTHER_CLASS))
        yield Probe("init-no-class", pod(cpu, init=(init,), runtimeClassName=None))
    if asked.most is not None:
        yield Probe("most", pod(asking("main", None, str(asked.most))))
        yield Probe("too-many", pod(asking("main", None, str(asked.most + 1))))
        yield Probe("too-many-in-init", pod(cpu, init=(asking("setup", None, str(asked.most + 1)),)))
        yield Probe(
            "two-with-most", pod(asking("main", None, str(asked.most)), asking("second", None, str(asked.most)))
        )
    if asked.tolerations:
        yield Probe("tolerates", pod(gpu, tolerations=[*asked.tolerations]))
        yield Probe("tolerates-other", pod(gpu, tolerations=[{"key": "other", "operator": "Exists"}]))
    for key, value in asked.node_selector.items():
        yield Probe("selected", pod(gpu, nodeSelector={key: value}))
        yield Probe("selected-otherwise", pod(gpu, nodeSelector={key: f"not-{value}"[:63]}))
    if asked.tolerations or asked.node_selector:
        yield Probe("init-to-place", pod(cpu, init=(init,)))


def namespace_of(reach: Reach) -> str:
    """A namespace that the rule is for."""
    for pattern in reach.match.get("namespaces", []):
        return str(pattern).replace("*", "x").replace("?", "x")
    return "team-a"


def _labels(reach: Reach) -> dict[str, str]:
    return {
        key: str(value).replace("*", "x").replace("?", "x") for key, value in reach.match.get("podLabels", {}).items()
    }
