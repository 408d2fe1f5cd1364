"""no-gpu-bypass: no way to a GPU around the resource request.

Reads env and envFrom of every container, volumeMounts, spec.volumes[].hostPath, metadata.annotations,
spec.runtimeClassName and, if asked, securityContext.privileged.
Allowed: the vendors' variables with a value that hands out no GPU (`void`, `none`, empty), or with any value but
`all` on a container that asks for GPUs; no annotation that hands out devices; no host path to GPU devices or to a
folder above them; a GPU runtime class on GPU pods only.

What the names are: the presets (app/policy/presets), each with its source.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from posixpath import basename, normpath
from typing import Any

from app.model import cel
from app.model.finding import Result
from app.model.gpu import GpuSet, Names
from app.model.patch import escape
from app.model.pod import Container
from app.model.words import quoted
from app.rules.rule import Rule, Subject


@dataclass(frozen=True, slots=True)
class Parameters:
    """``envFrom`` also finds fault with variables that cannot be seen, from a ConfigMap or Secret; ``privileged``
    with privileged containers of pods without GPUs."""

    envFrom: bool = field(
        default=False,
        metadata={"description": "Also refuse envFrom, which may set the variable from a ConfigMap or Secret."},
    )
    privileged: bool = field(
        default=False, metadata={"description": "Also refuse privileged containers in pods without GPUs."}
    )


def check(parameters: Parameters, subject: Subject) -> Iterator[Result]:
    """One result for each way around."""
    pod, gpus = subject.pod, subject.gpus
    environment = gpus.environment
    for container in pod.containers:
        if "env" in container.raw:
            for index, entry in enumerate(container.env()):
                if entry.get("name") in environment:
                    yield from _variable(container, index, entry, subject)
        if parameters.envFrom and gpus.environment and container.env_from() and not subject.use.asks(container):
            variables = " or ".join(sorted(gpus.environment))
            said = f"{container.label}: envFrom may set {variables}; list the variables that it needs under env"
            yield Result("violation", f"{container.pointer}/envFrom", said, container)
        if gpus.mount_names and "volumeMounts" in container.raw:
            for index, mount in enumerate(container.volume_mounts()):
                written = mount.get("mountPath") or ""
                # A path under a folder holds its last name, however it is written; few do, so few are looked at.
                for name in gpus.mount_names:
                    if name in written:
                        yield from _mount(container, index, written, gpus)
                        break
        if parameters.privileged and container.privileged and not subject.use.gpu:
            said = (
                f"{container.label}: privileged is true, which lets it use every GPU of its node without asking for "
                "one; set securityContext.privileged to false"
            )
            yield Result("violation", f"{container.pointer}/securityContext/privileged", said, container)
    exact, prefixes = gpus.bypass_annotations.exact, gpus.bypass_annotations.prefixes
    for key in pod.annotations:
        if key in exact or key.startswith(prefixes):
            said = f"annotation {key} hands devices to the pod past its resource requests; remove it and ask for a GPU"
            yield Result("violation", f"{pod.metadata_pointer}/annotations/{escape(key)}", said)
    if "volumes" in pod.spec:
        for name, path, pointer in pod.host_paths():
            yield from _host_path(name, path, pointer, gpus)
    maybe = subject.use.gpu or subject.use.unknown_claim is not None
    if pod.runtime_class and not maybe and pod.runtime_class in gpus.runtime_classes:
        name = quoted(pod.runtime_class)
        said = f"runtimeClassName {name} exposes GPUs to a pod that asks for none; remove it or ask for a GPU"
        yield Result("violation", f"{pod.spec_pointer}/runtimeClassName", said)
    if subject.use.gpu and pod.spec.get("hostUsers") is False:
        said = "hostUsers is false, with which GPUs are known not to work (NVIDIA/nvidia-container-toolkit#648)"
        yield Result("note", f"{pod.spec_pointer}/hostUsers", said)


def _variable(container: Container, index: int, entry: dict[str, Any], subject: Subject) -> Iterator[Result]:
    """At most one result for an entry of ``env`` that is one of the vendors' variables."""
    name, value = entry["name"], entry.get("value") or ""
    if subject.use.asks(container) or (container.claims and subject.use.unknown_claim is not None):
        if value != "all":
            return
        reason = "is all, more than the GPUs that it asks for; remove it"
    elif not value and entry.get("valueFrom") is not None:
        reason = "comes from elsewhere and may hand it GPUs that it does not ask for; remove it or set it to void"
    elif value in subject.gpus.environment[name]:
        return
    else:
        reason = f"is {quoted(value)}, which hands it GPUs that it does not ask for; ask for a GPU, or set it to void"
    yield Result("violation", f"{container.pointer}/env/{index}", f"{container.label}: {name} {reason}", container)


def _mount(container: Container, index: int, written: str, gpus: GpuSet) -> Iterator[Result]:
    path = _normal(written)
    if any(_within(path, listed) for listed in gpus.mount_paths):
        said = f"{container.label}: a mount at {path} hands it GPUs that it does not ask for; remove it"
        yield Result("violation", f"{container.pointer}/volumeMounts/{index}", said, container)


def _host_path(name: str, written: str, pointer: str, gpus: GpuSet) -> Iterator[Result]:
    if not written:  # the API server refuses an empty one
        return
    paths, path = gpus.device_paths, _normal(written)
    below = path in paths or any(_within(path, listed) for listed in paths.exact)
    above = any(_within(listed, path) for listed in (*paths.exact, *paths.prefixes))
    if below or above:
        what = "reaches GPU devices" if below else "holds GPU devices"
        said = f"volume {quoted(name)}: hostPath {path} {what}; remove it and ask for a GPU"
        yield Result("violation", pointer, said)


def _normal(path: str) -> str:
    """The path without double slashes and dots."""
    return "/" + normpath(path).lstrip("/")


def _within(path: str, folder: str) -> bool:
    """True if the path is the folder or under it."""
    return bool(path) and (path == folder or path.startswith(folder.rstrip("/") + "/"))


def condition(parameters: Parameters, gpus: GpuSet) -> Iterator[str]:
    """The pods without GPUs that have a variable, annotation, volume or class that the rule looks at.

    Paths can be written in many ways (`//dev`, `/./dev/`), so only their text is looked at: a path to devices, or to
    a folder above them, holds their first folder's name, or no name at all.
    """
    if gpus.runtime_classes:
        names = cel.named("object.spec.runtimeClassName", gpus.runtime_classes)
        yield cel.all_of("has(object.spec.runtimeClassName)", names)
    if gpus.bypass_annotations:
        yield cel.has_key("metadata.annotations", gpus.bypass_annotations)
    if gpus.device_paths:
        path = "v.hostPath.path"
        folders = {listed.split("/")[1] for listed in (*gpus.device_paths.exact, *gpus.device_paths.prefixes)}
        reaches = (f"{path}.contains({cel.text(folder)})" for folder in sorted(folders))
        volume = cel.all_of("has(v.hostPath)", cel.any_of([*reaches, f'{path}.matches("^[/.]*$")']))
        yield f"has(object.spec.volumes) && object.spec.volumes.exists(v, {volume})"
    container = list(_container_conditions(parameters, gpus))
    if container:
        yield from cel.containers(cel.any_of(container))


def _container_conditions(parameters: Parameters, gpus: GpuSet) -> Iterator[str]:
    if parameters.privileged:
        yield "has(c.securityContext) && has(c.securityContext.privileged) && c.securityContext.privileged"
    if gpus.environment:
        if parameters.envFrom:
            yield "has(c.envFrom)"
        yield f"has(c.env) && c.env.exists(e, {_exposes(gpus)})"
    if gpus.mount_paths:
        folders = {basename(path) for path in gpus.mount_paths}
        mount = cel.any_of(f"m.mountPath.contains({cel.text(folder)})" for folder in sorted(folders))
        yield f"has(c.volumeMounts) && c.volumeMounts.exists(m, {mount})"


def _exposes(gpus: GpuSet) -> str:
    """A variable ``e`` that may hand out GPUs: of several vendors', with a value that one of them minds."""
    harmless = frozenset.intersection(*gpus.environment.values())
    value = cel.any_of(["has(e.valueFrom)", f'!((has(e.value) ? e.value : "") in {cel.texts(harmless)})'])
    return cel.all_of(cel.named("e.name", Names(gpus.environment)), value)


RULE = Rule(
    id="no-gpu-bypass",
    summary="No way to a GPU around the resource request",
    why=(
        "Variables, annotations, host paths and runtime classes can hand a container GPUs that the scheduler never "
        "allocated to it: another pod's."
    ),
    comply="Ask for the GPU under resources.limits, and remove the variable, annotation, mount or class.",
    parameters=Parameters,
    check=check,
    pods="every",
    condition=condition,
)
