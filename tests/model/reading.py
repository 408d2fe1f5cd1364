"""A pod, read from end to end."""

from app.model.pod import Pod

NODE = "requiredDuringSchedulingIgnoredDuringExecution"


def everything(pod: Pod) -> None:
    """Read every field."""
    _ = pod.mirror, pod.service_account
    pod.tolerations(), pod.node_selector(), pod.host_paths(), pod.resource_claims(), pod.scheduling_gates()
    list(pod.required_node_terms())
    for container in pod.containers:
        _ = container.image, container.label
        container.env(), container.env_from(), container.volume_mounts()
