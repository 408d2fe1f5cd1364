"""Namespaces of a real cluster, with the configurations of several policies at once in front of their pods."""

from typing import Any, NamedTuple

from app.manifests.parts import Scope
from app.policy.compiled import Policy
from app.policy.load import load
from app.sources.policies import read_policy
from tests.controlplane import ControlPlane, Response, wait_for
from tests.manifests.recorder import Call, Recorder
from tests.support.cluster import MODE_LABEL, TEST_LABEL, gpu_pod

EVERYTHING = """
apiVersion: gpugate.dev/v1alpha1
kind: GpuPolicy
metadata: {name: everything}
spec:
  gpus: {presets: [nvidia, amd, intel, gaudi, neuron, tpu, hami, kai, volcano, kata]}
  rules:
    - {rule: limits-equal-requests, repair: true}
    - {rule: no-privileged}
    - {rule: runtime-class, with: {default: nvidia}}
    - {rule: no-gpu-bypass, with: {envFrom: true, privileged: true}}
    - rule: gpu-nodes-reserved
      with:
        nodeLabels: [nvidia.com/gpu.present, gpu=on, gpu.intel.com/product]
        taintKeys: [nvidia.com/gpu, amd.com/gpu, google.com/tpu]
"""
STRICT = """
apiVersion: gpugate.dev/v1alpha1
kind: GpuPolicy
metadata: {name: strict}
spec:
  gpus:
    presets: [nvidia, amd, hami]
    resources: [example.com/gpu]
    deviceClasses: ["gpu.*"]
    annotations: [gpu-fraction, gpu-mem*]
  exempt:
    serviceAccounts: [NAMESPACE/exporter, elsewhere/default]
    pods: [{namespace: NAMESPACE, labels: {app: exporter}}]
  rules:
    - {rule: limits-equal-requests, repair: true}
    - {rule: no-privileged}
    - {rule: runtime-class, repair: true, with: {default: nvidia, allowed: [nvidia, nvidia-cdi]}}
    - {rule: no-gpu-bypass, with: {envFrom: true}}
    - {rule: gpu-nodes-reserved, action: warn, with: {nodeLabels: [accelerator=nvidia-gpu, gpu=on]}}
    - {rule: max-gpus, with: {perPod: {"nvidia.com/*": 2}}}
  exceptions:
    - {name: proxy, rules: [no-privileged], match: {images: ["proxy:*"]}, owner: a, reason: b, expires: 2100-01-01}
  inject:
    - {name: nodes, nodeSelector: {accelerator: nvidia-gpu}, taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}
    - {name: hide, hideGpus: true}
"""
WATCHING = """
apiVersion: gpugate.dev/v1alpha1
kind: GpuPolicy
metadata: {name: watching}
spec:
  gpus: {presets: [gaudi, tpu, neuron, intel]}
  rules:
    - {rule: runtime-class, action: warn, with: {default: habana}}
    - {rule: no-gpu-bypass, action: audit, with: {privileged: true}}
    - {rule: gpu-nodes-reserved, with: {taintKeys: [dedicated, google.com/tpu], nodeLabels: [example.com/pool=gpu]}}
"""
FENCE = """
apiVersion: gpugate.dev/v1alpha1
kind: GpuPolicy
metadata: {name: fence}
spec:
  gpus: {presets: [amd]}
  rules: [{rule: gpu-nodes-reserved, with: {taintKeys: [amd.com/gpu]}}]
"""


class Configured(NamedTuple):
    """What was installed under a label, and the policy by which pods are judged."""

    judging: Policy
    installed: Policy
    scope: Scope = "tight"


class Site:
    """Namespaces whose pods are judged by all the policies at once, each with configurations of its own."""

    def __init__(self, plane: ControlPlane, recorder: Recorder, run: str) -> None:
        self.plane, self.recorder, self.run = plane, recorder, run
        self.namespaces = {mode: self.namespace(mode) for mode in ("audit", "enforce")}
        shipped, everything = read_policy("shipped"), _load(EVERYTHING)
        strict = _load(STRICT.replace("NAMESPACE", self.namespaces["enforce"]))
        self.configured = {
            "shipped": Configured(shipped, shipped),
            "strict": Configured(strict, strict),
            "watching": Configured(_load(WATCHING), _load(WATCHING)),
            "fence": Configured(_load(FENCE), _load(FENCE)),
            "tight": Configured(everything, everything),
            "broad": Configured(everything, shipped, "broad"),
        }
        for label, each in self.configured.items():
            recorder.install(label, each.installed, {TEST_LABEL: run}, each.scope)

    def namespace(self, mode: str) -> str:
        """One more namespace in a mode."""
        return self.plane.namespace(f"c-{mode}", {TEST_LABEL: self.run, MODE_LABEL: mode})

    def request(self, method: str, mode: str, name: str, body: Any) -> tuple[Response, list[Call]]:
        """Send a request about a pod; the answer, and who was called for it."""
        self.recorder.calls()
        path = f"/api/v1/namespaces/{self.namespaces[mode]}/pods{name}"
        content_type = "application/strategic-merge-patch+json" if method == "PATCH" else "application/json"
        response = self.plane.client().request(method, path, body, content_type)
        return response, self.recorder.calls()

    def tried(self, mode: str, pod: dict[str, Any]) -> tuple[Response, list[Call]]:
        """Create a pod without keeping it."""
        return self.request("POST", mode, "?dryRun=All", pod)

    def patched(self, name: str, patch: dict[str, Any]) -> tuple[Response, list[Call]]:
        """Patch a pod in `enforce`, or a subresource of it.

        A patch starts from the API server's cache, and is judged once more where that was behind: so it waits for it.
        """
        pod = name.split("/")[1]

        def version(query: str) -> Any:
            return self.request("GET", "enforce", f"/{pod}{query}", None)[0].body["metadata"].get("resourceVersion")

        wait_for(lambda: version("?resourceVersion=0") == version(""), message="the API server's cache in step")
        return self.request("PATCH", "enforce", name, patch)

    def called(self, method: str, name: str, body: Any, configuration: str = "strict") -> set[str]:
        """Which entries of a configuration a request about a pod in `enforce` calls; it must succeed."""
        response, calls = self.patched(name, body) if method == "PATCH" else self.request(method, "enforce", name, body)
        response.expect()
        return {call.entry for call in calls if call.configuration == configuration}

    def ready(self) -> bool:
        """True once the API server calls everything that it should."""
        probe = gpu_pod("probe", tolerations=[{"key": "amd.com/gpu", "operator": "Exists"}])
        probe["spec"]["containers"][0]["resources"]["limits"]["habana.ai/gaudi"] = 1
        expected = {(label, phase) for label in self.configured for phase in ("mutate", "validate")} - {
            ("fence", "mutate")
        }
        for mode in self.namespaces:
            _, calls = self.tried(mode, probe)
            if {(call.configuration, call.phase) for call in calls} != expected:
                return False
        return True


def _load(text: str) -> Policy:
    return load([("policy.yaml", text.encode())])
