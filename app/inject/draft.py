"""The pod as it will be after the changes decided so far, and the operations that get it there."""

from dataclasses import dataclass
from typing import Any

from app.model.context import Context
from app.model.finding import Result
from app.model.gpu import GpuSet, GpuUse
from app.model.patch import Operation, add, escape
from app.model.pod import Container, Pod


@dataclass(slots=True)
class Change:
    """Something an injection adds: where, in words, and as operations."""

    pointer: str
    message: str
    operations: list[Operation]
    container: Container | None = None


Injected = Change | Result
"""What an injection yields: a change, or the reason why there is none."""


class Draft:
    """Tolerations, nodeSelector and environment of a pod, with the additions so far.

    Each ``add_`` method records an addition and returns the operation for it, which also creates the list or map
    that it goes into where the pod has none: JSON Patch does not add below a missing parent.
    """

    __slots__ = ("_environments", "context", "gpus", "node_selector", "pod", "tolerations", "use")

    def __init__(self, pod: Pod, use: GpuUse, gpus: GpuSet, context: Context) -> None:
        self.pod = pod
        self.use = use
        self.gpus = gpus
        self.context = context
        self.tolerations = pod.tolerations()
        self.node_selector = pod.node_selector()
        self._environments: dict[str, list[dict[str, Any]]] = {}

    def add_toleration(self, toleration: dict[str, Any]) -> Operation:
        """Append to ``spec.tolerations``."""
        path = f"{self.pod.spec_pointer}/tolerations"
        first = not self.tolerations
        self.tolerations = [*self.tolerations, toleration]
        return add(path, [toleration]) if first else add(f"{path}/-", toleration)

    def add_selector(self, key: str, value: str) -> Operation:
        """Add a key to ``spec.nodeSelector``."""
        path = f"{self.pod.spec_pointer}/nodeSelector"
        first = not self.node_selector
        self.node_selector = {**self.node_selector, key: value}
        return add(path, {key: value}) if first else add(f"{path}/{escape(key)}", value)

    def environment(self, container: Container) -> list[dict[str, Any]]:
        """The ``env`` of a container."""
        known = self._environments.get(container.pointer)
        return container.env() if known is None else known

    def add_variable(self, container: Container, name: str, value: str) -> Operation:
        """Append to the ``env`` of a container."""
        path = f"{container.pointer}/env"
        entry = {"name": name, "value": value}
        environment = self.environment(container)
        self._environments[container.pointer] = [*environment, entry]
        return add(f"{path}/-", entry) if environment else add(path, [entry])
