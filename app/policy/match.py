"""Which pods a rule, injection or exception of a policy is for."""

from dataclasses import dataclass, field

from app.model.context import Context
from app.model.gpu import GpuUse
from app.model.pod import Pod
from app.policy.glob import Globs

_NONE = Globs(())


@dataclass(frozen=True, slots=True)
class Match:
    """All conditions that are given must hold; within one, any of its entries. An empty match selects every pod."""

    namespaces: Globs = _NONE
    not_namespaces: Globs = _NONE
    pod_labels: tuple[tuple[str, Globs], ...] = ()
    resources: Globs = _NONE
    device_classes: Globs = _NONE
    runtime_classes: Globs = _NONE
    everything: bool = field(init=False)

    def __post_init__(self) -> None:
        given = (self.namespaces, self.not_namespaces, self.pod_labels, self.resources, self.device_classes)
        object.__setattr__(self, "everything", not any(given) and not self.runtime_classes)

    def selects(self, pod: Pod, use: GpuUse, context: Context, runtime_class: str) -> bool:
        """True if the pod is meant; ``runtime_class`` is the one that it will have."""
        namespace = context.namespace or ""
        return (
            (not self.namespaces or namespace in self.namespaces)
            and namespace not in self.not_namespaces
            and all(pod.labels.get(key, "") in globs and key in pod.labels for key, globs in self.pod_labels)
            and (not self.resources or any(name in self.resources for name in use.resources))
            and (not self.device_classes or any(name in self.device_classes for name in use.device_classes))
            and (not self.runtime_classes or runtime_class in self.runtime_classes)
        )
