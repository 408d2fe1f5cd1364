"""NIM operator: services and jobs whose container and pod settings stand side by side in one spec.

Source: NVIDIA/k8s-nim-operator api/apps/v1alpha1/{nimservice,nimcache,nimbuild,nemo_*,dra}_types.go. The runtime class
is called runtimeClassName or, in older versions of the Nemo kinds, runtimeClass.
"""

from collections.abc import Iterator
from typing import Any

from app.model.places import Place
from app.workloads.assembly import READ, Assembly, Source
from app.workloads.kinds import Kind, Site
from app.workloads.reading import map_in, maps_in
from app.workloads.templates import Template


def read_spec(kind: Kind, site: Site) -> Iterator[Template]:
    """The pod of a spec."""
    spec, pointer = site.value, site.pointer
    pod = Assembly(site, pointer)
    pod.labelled(spec, pointer)
    for name in READ:
        if name in kind.lacks:
            pod.lack(name, pointer, f"{site.obj['kind']} has no field for it")
        else:
            older = name == "runtimeClassName" and "runtimeClass" in spec
            pod.choose(name, Source(spec, pointer), field="runtimeClass" if older else None)
    container = {key: spec[key] for key in ("resources", "env", "securityContext") if spec.get(key) is not None}
    claims = maps_in(spec, "draResources", pointer)
    if claims:
        container["resources"] = {**map_in(spec, "resources", pointer), "claims": _names(len(claims))}
        pod.spec["resourceClaims"] = [
            {**claim, **name} for (_, claim), name in zip(claims, _names(len(claims)), strict=True)
        ]
        pod.places.put(f"{pointer}/resourceClaims", Place(f"{pointer}/draResources"))
    pod.add("containers", container, pointer, name=str(site.obj["kind"]).lower())
    yield pod.template(kind)


def _names(count: int) -> list[dict[str, Any]]:
    """Names for claims that have none: the operator makes them up."""
    return [{"name": f"claim-{index}"} for index in range(count)]
