"""What Knative takes in the pod spec of a Service only where a flag in its ConfigMap `config-features` is enabled.

A webhook for pods may add the same fields to the pod that comes of it. Source: knative/serving
config/core/configmaps/features.yaml, pkg/apis/serving/fieldmask.go.
"""

from typing import Final

FLAGS: Final = {
    name: f"Knative takes it only with its flag kubernetes.podspec-{name.lower()}"
    for name in ("runtimeClassName", "nodeSelector", "tolerations")
}
"""By field of a pod spec that gpugate adds to, the condition."""
