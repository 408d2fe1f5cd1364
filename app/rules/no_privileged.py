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

# Annotations in which a mesh says which containers it added to a pod after its author wrote it.
_INJECTORS = ("sidecar.istio.io/status", "linkerd.io/proxy-version")


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
    for annotation in _INJECTORS:
        if name and f'"{name}"' in pod.annotations.get(annotation, ""):
            return f" (annotation {annotation} says that this container was injected)"
    return ""


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
