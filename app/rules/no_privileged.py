"""no-privileged: no container of a GPU pod is privileged.

Reads securityContext.privileged of containers, init containers and ephemeral containers.
Allowed: unset or false.

Source: a privileged container sees every device of its node, whatever was allocated to it (NVIDIA/gpu-operator#1145,
kubernetes/kubernetes#81256).
"""

from collections.abc import Iterator

from app.model.finding import Result
from app.model.pod import Pod
from app.rules.rule import NoParameters, Rule, Subject

# How to tell that a mesh added a container to a pod after its author wrote it: Istio lists its containers in an
# annotation, Linkerd's are always named so.
_ISTIO = "sidecar.istio.io/status"
_LINKERD = "linkerd.io/proxy-version"
_LINKERD_NAMES = ("linkerd-init", "linkerd-proxy", "linkerd-network-validator")


def check(_parameters: NoParameters, subject: Subject) -> Iterator[Result]:
    """One result for each privileged container; a note where only a claim of unknown class made it a GPU pod."""
    if not subject.use.gpu and subject.use.unknown_claim:
        said = (
            f'resource claim "{subject.use.unknown_claim}" may be for a GPU, as its device class is not known here; '
            "of the rules for GPU pods only this one applies"
        )
        yield Result("note", f"{subject.pod.spec_pointer}/resourceClaims", said)
    for container in subject.pod.containers:
        if not container.privileged:
            continue
        yield Result(
            "violation",
            f"{container.pointer}/securityContext/privileged",
            f"{container.label}: privileged is true, which lets it use every GPU of the node; set "
            f"securityContext.privileged to false{_injected(subject.pod, container.name)}",
            container,
        )


def _injected(pod: Pod, name: str) -> str:
    if name and f'"{name}"' in pod.annotations.get(_ISTIO, ""):
        annotation = _ISTIO
    elif name in _LINKERD_NAMES and _LINKERD in pod.annotations:
        annotation = _LINKERD
    else:
        return ""
    return f" (annotation {annotation} says that this container was injected)"


RULE = Rule(
    id="no-privileged",
    summary="GPU pods have no privileged container",
    why=(
        "A privileged container sees all GPUs of its node, so what was allocated to the pod means nothing and other "
        "pods' GPUs are open to it."
    ),
    comply="Set securityContext.privileged to false, and add only the capabilities that the container needs.",
    parameters=NoParameters,
    check=check,
    pods="gpu",
    hidden_claims=True,
)
