"""What is refused, and where its author reads why."""

import json
from typing import Any

import pytest

from tests.apiserver.data import deployment
from tests.controlplane import wait_for
from tests.support.cluster import Installed, gpu_pod, nvidia_runtime_class


def with_resources(name: str, **resources: Any) -> dict[str, Any]:
    pod = gpu_pod(name)
    pod["spec"]["containers"][0]["resources"] = resources
    return pod


def privileged_init(name: str) -> dict[str, Any]:
    init = {"name": "setup", "image": "registry.example.com/setup:1", "securityContext": {"privileged": True}}
    return gpu_pod(name, initContainers=[init])


def test_a_request_without_a_limit_is_repaired_and_created(shipped: Installed) -> None:
    namespace = shipped.namespace("enforce")
    pod = shipped.created(namespace, with_resources("repaired", requests={"cpu": "1", "nvidia.com/gpu": 2}))
    resources = pod["spec"]["containers"][0]["resources"]
    assert resources == {"requests": {"cpu": "1", "nvidia.com/gpu": "2"}, "limits": {"nvidia.com/gpu": "2"}}


UNEQUAL = (
    'gpu-pods/limits-equal-requests: container "main": nvidia.com/gpu request 6 is not its limit 8; '
    "set both to the number you need"
)
PRIVILEGED = (
    'gpu-pods/no-privileged: init container "setup": privileged is true, which lets it use every GPU of the node; '
    "set securityContext.privileged to false"
)
WRONG_CLASS = 'gpu-pods/runtime-class: runtimeClassName is "gvisor", which is not for GPU pods here; set it to "nvidia"'
UNEQUAL_POD = with_resources("p", limits={"nvidia.com/gpu": 8}, requests={"nvidia.com/gpu": 6})
EVERYTHING = {
    **UNEQUAL_POD,
    "spec": {**UNEQUAL_POD["spec"], **privileged_init("p")["spec"], "runtimeClassName": "gvisor"}
    | {"containers": UNEQUAL_POD["spec"]["containers"]},
}


@pytest.mark.parametrize(
    ("pod", "webhook", "message"),
    [
        (UNEQUAL_POD, "mutate-enforce", UNEQUAL),
        (privileged_init("p"), "validate-enforce", PRIVILEGED),
        (gpu_pod("p", runtimeClassName="gvisor"), "validate-enforce", WRONG_CLASS),
        (EVERYTHING, "mutate-enforce", f"(1) {UNEQUAL} (2) {PRIVILEGED} (3) {WRONG_CLASS}"),
    ],
    ids=["unequal", "privileged init container", "wrong class", "all at once"],
)
def test_a_refusal_says_everything_in_kubectl_and_in_the_replicasets_events(
    shipped: Installed, pod: dict[str, Any], webhook: str, message: str
) -> None:
    nvidia_runtime_class(shipped.plane, "gvisor")
    namespace = shipped.namespace("enforce")
    applied = shipped.plane.kubectl("apply", "-n", namespace, "-f", "-", input=json.dumps(pod), check=False)
    assert applied.returncode == 1
    assert "Error from server (Forbidden)" in applied.stderr
    assert f'admission webhook "{webhook}' in applied.stderr
    assert f"denied the request: {message}\n" in applied.stderr

    if pod is UNEQUAL_POD or pod is EVERYTHING:
        return  # the API server refuses such a Deployment itself
    made = deployment("refused", dict(pod["spec"]))
    shipped.plane.kubectl("apply", "-n", namespace, "-f", "-", input=json.dumps(made))

    def event() -> str | None:
        path = f"/api/v1/namespaces/{namespace}/events"
        events = shipped.plane.client().get(path).expect(200)["items"]
        said = [each["message"] for each in events if each["reason"] == "FailedCreate"]
        return next((text for text in said if message in text), None)

    wait_for(event, message="the refusal in the ReplicaSet's events")


def test_the_api_servers_own_words_for_a_template_are_the_reason_why_check_refuses_it(shipped: Installed) -> None:
    """The premise of `template` in app.model.context: a workload's template is validated before any pod exists."""
    namespace = shipped.namespace("enforce")
    spec = with_resources("p", requests={"nvidia.com/gpu": 2})["spec"]
    applied = shipped.plane.kubectl(
        "apply", "-n", namespace, "-f", "-", input=json.dumps(deployment("template", spec)), check=False
    )
    assert "Limit must be set for non overcommitable resources" in applied.stderr


def test_unknown_fields_and_everything_of_the_authors_survive_a_patch(shipped: Installed) -> None:
    namespace = shipped.namespace("enforce")
    pod = gpu_pod("kept", tolerations=[{"key": "team", "operator": "Exists"}], nodeSelector={"zone": "a"}, hostname="h")
    pod["metadata"]["annotations"] = {"example.com/note": "kept ~ / \U0001f600"}
    stored = shipped.created(namespace, pod)
    assert stored["metadata"]["annotations"] == pod["metadata"]["annotations"]
    assert stored["spec"]["tolerations"][0] == {"key": "team", "operator": "Exists"}
    assert stored["spec"]["nodeSelector"] == {"zone": "a", "accelerator": "nvidia-gpu"}
    assert stored["spec"]["hostname"] == "h"


@pytest.mark.parametrize(("profile", "code"), [("sysadmin", 1), ("general", 0)])
def test_kubectl_debug_of_a_gpu_pod(shipped: Installed, profile: str, code: int) -> None:
    namespace = shipped.namespace("enforce")
    shipped.created(namespace, gpu_pod("served"))
    debugged = shipped.plane.kubectl(
        "debug", "served", "-n", namespace, "--image=busybox", "--container=shell", f"--profile={profile}",
        "--attach=false", "--", "sh", check=False,
    )  # fmt: skip
    assert debugged.returncode == code, debugged.stderr
    containers = shipped.pod(namespace, "served")["spec"].get("ephemeralContainers", [])
    if code:
        assert containers == []
        assert 'gpu-pods/no-privileged: ephemeral container "shell": privileged is true' in debugged.stderr
    else:
        assert [container["name"] for container in containers] == ["shell"]
