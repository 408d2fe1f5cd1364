"""Policies of many kinds, for properties that hold whatever the policy says."""

from datetime import date
from pathlib import Path

import app
from app.model.context import ClusterFacts, RuntimeClassFact
from app.policy.compiled import Policy
from app.policy.load import load

TODAY = date(2027, 1, 15)
SHIPPED = Path(app.__file__).parent.parent / "policies" / "gpu-pods.yaml"


def policy(spec: str) -> Policy:
    """The policy with this spec (YAML in flow or block style, indented by two)."""
    head = "apiVersion: gpugate.dev/v1alpha1\nkind: GpuPolicy\nmetadata: {name: test}\nspec:\n"
    return load([("test.yaml", (head + spec).encode())])


_MATCHED = """
  gpus: {presets: [nvidia, amd, hami, kai], deviceClasses: [gpu.example.com]}
  rules:
    - {rule: limits-equal-requests, repair: true, match: {namespaces: ["team*", "research-*"]}}
    - {rule: limits-equal-requests, name: limits-warned, action: warn}
    - {rule: runtime-class, repair: true, with: {default: nvidia, allowed: [nvidia, kata]}}
    - {rule: runtime-class, name: sandboxed, repair: true, match: {podLabels: {sandbox: "*"}}, with: {default: kata}}
    - {rule: no-privileged, match: {runtimeClasses: [nvidia]}}
    - {rule: no-gpu-bypass, with: {envFrom: true, privileged: true}, match: {notNamespaces: ["team*"]}}
    - {rule: max-gpus, with: {perPod: {"nvidia.com/*": 2}}, match: {resources: ["nvidia.com/*"]}}
    - rule: max-gpus
      name: few-claims
      action: audit
      match: {deviceClasses: ["*"]}
      with: {perContainer: {"deviceclass.resource.kubernetes.io/*": 1}}
  inject:
    - {name: by-label, match: {podLabels: {workload: train*}}, nodeSelector: {pool: train}}
    - name: by-resource
      match: {resources: ["nvidia.com/mig-*"]}
      nodeSelector: {mig: "true"}
      taints: [{key: mig, effect: NoExecute}]
    - {name: by-device-class, match: {deviceClasses: [gpu.nvidia.com]}, nodeSelector: {dra: ""}}
    - name: by-class
      match: {runtimeClasses: [nvidia]}
      taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
      nodeSelector: {class: nvidia}
    - {name: by-no-class, match: {runtimeClasses: [kata]}, nodeSelector: {class: kata}, onConflict: keep}
    - name: everywhere
      tolerations: [{key: reserved, operator: Equal, value: "", effect: NoSchedule}, {operator: Exists, key: spot}]
"""

_HIDING = """
  gpus: {presets: [nvidia, gaudi], resources: ["example.com/gpu"]}
  rules:
    - {rule: limits-equal-requests, repair: true}
    - {rule: runtime-class, repair: true, action: warn, with: {default: nvidia, allowed: [nvidia, habana]}}
    - {rule: gpu-nodes-reserved, with: {nodeLabels: [accelerator, pool=gpu], taintKeys: [nvidia.com/gpu]}}
    - {rule: no-gpu-bypass}
  inject:
    - {name: hide, hideGpus: true}
    - {name: one, nodeSelector: {accelerator: nvidia-gpu}}
    - {name: other, nodeSelector: {accelerator: a100, zone: z1}, match: {podLabels: {workload: train}}}
    - name: kept
      nodeSelector: {pool: gpu, disk: ssd}
      onConflict: keep
      taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}, {key: nvidia.com/gpu, effect: NoExecute}]
"""

_EXCEPTED = """
  gpus: {presets: [nvidia]}
  rules:
    - {rule: limits-equal-requests, action: warn, repair: true}
    - {rule: no-privileged}
    - {rule: runtime-class, with: {default: nvidia}}
    - {rule: gpu-nodes-reserved, with: {taintKeys: [nvidia.com/gpu]}}
  exceptions:
    - name: images
      rules: [no-privileged]
      match: {images: ["registry.example.com/*"]}
      owner: a
      reason: b
      expires: 2027-01-15
    - name: names
      rules: [no-privileged]
      match: {containers: [init*], namespaces: [team]}
      owner: a
      reason: b
      expires: 2027-12-31
    - name: labels
      rules: [runtime-class, gpu-nodes-reserved]
      match: {podLabels: {workload: "*"}}
      owner: a
      reason: b
      expires: 2028-01-01
    - {name: over, rules: [runtime-class], match: {namespaces: ["t*"]}, owner: a, reason: b, expires: 2027-01-14}
  inject:
    - {name: gpu-nodes, taints: [{key: nvidia.com/gpu, effect: NoSchedule}], nodeSelector: {accelerator: nvidia-gpu}}
"""

POLICIES: dict[str, Policy] = {
    "shipped": load([("gpu-pods.yaml", SHIPPED.read_bytes())]),
    "matched": policy(_MATCHED),
    "hiding": policy(_HIDING),
    "excepted": policy(_EXCEPTED),
}

FACTS: dict[str, ClusterFacts] = {
    "unknown": ClusterFacts(),
    "no classes": ClusterFacts(runtime_classes={}),
    "plain classes": ClusterFacts(
        runtime_classes={name: RuntimeClassFact(name) for name in ("nvidia", "kata", "habana")},
        claims={("team", "one"): ("gpu.nvidia.com",), ("team", "other"): ("nic.example.com",)},
    ),
    "classes with nodes": ClusterFacts(
        runtime_classes={
            "nvidia": RuntimeClassFact(
                "nvidia",
                {"accelerator": "nvidia-gpu", "class": "nvidia"},
                ({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},),
            ),
            "kata": RuntimeClassFact("kata", {"class": "kata"}),
        }
    ),
    "classes of other nodes": ClusterFacts(
        runtime_classes={
            "nvidia": RuntimeClassFact("nvidia", {"accelerator": "l4", "class": "other", "pool": "gpu"}),
            "kata": RuntimeClassFact("kata", {"pool": "train"}),
        },
        claims={("team", "one"): ("gpu.example.com",)},
    ),
}
