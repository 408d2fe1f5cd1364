"""hideGpus: in a GPU pod, containers that ask for no GPU see none.

Adds the vendors' variable (NVIDIA_VISIBLE_DEVICES=void) to containers that ask for none, where the name is not set.
CUDA images carry NVIDIA_VISIBLE_DEVICES=all in themselves, so under a GPU runtime class a sidecar without a request
sees every GPU of the node (NVIDIA/k8s-device-plugin#87, #195).

Left alone: containers with a resource claim, ephemeral containers, and pods that get their GPU by annotation, where
a scheduler decides which container it goes to.
"""

from collections.abc import Iterator

from app.inject.draft import Change, Draft


def inject(draft: Draft) -> Iterator[Change]:
    """One change for each variable of each container that asks for no GPU."""
    use = draft.use
    if use.annotation is not None or not use.containers:
        return
    for container in draft.pod.containers:
        if container.kind == "ephemeralContainer" or container.claims or use.asks(container):
            continue
        for name, value in draft.gpus.hide.items():
            if all(entry.get("name") != name for entry in draft.environment(container)):
                operation = draft.add_variable(container, name, value)
                said = f"{container.label}: {name}={value} added, as it asks for no GPU"
                yield Change(f"{container.pointer}/env", said, [operation], container)
