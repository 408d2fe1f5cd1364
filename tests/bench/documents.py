"""How long `read` takes, as a multiple of composing the same YAML: `python tests/bench/documents.py`.

The yardstick is yaml.CSafeLoader composing 1,000 pods, document by document, with the cyclic garbage collector off:
no values, no checks. Runs are interleaved, so that what else the machine does counts for all alike; the numbers are
medians. The goal is 2.
"""

import argparse
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from app.documents import Document, read  # noqa: E402

POD = """\
apiVersion: v1
kind: Pod
metadata:
  annotations:
    cni.projectcalico.org/podIP: 10.0.{n}.3/32
  creationTimestamp: "2026-11-01T10:00:00Z"
  generateName: trainer-{n}-
  labels:
    app: trainer
    pod-template-hash: 7d4b9c8f6
  name: trainer-{n}-x7k2p
  namespace: ml
  ownerReferences:
  - apiVersion: apps/v1
    blockOwnerDeletion: true
    controller: true
    kind: ReplicaSet
    name: trainer-7d4b9c8f6
    uid: 3c6e0b8a-9c15-4e6f-8f9c-1234567890ab
  resourceVersion: "12345"
  uid: 3c6e0b8a-9c15-4e6f-8f9c-1234567890ac
spec:
  containers:
  - args:
    - --epochs=10
    - --batch=32
    command:
    - python
    - train.py
    env:
    - name: NODE
      valueFrom:
        fieldRef:
          apiVersion: v1
          fieldPath: spec.nodeName
    - name: RANK
      value: "1"
    image: registry.example.com/ml/trainer:1.2.3
    imagePullPolicy: IfNotPresent
    name: trainer
    ports:
    - containerPort: 8080
      protocol: TCP
    resources:
      limits:
        nvidia.com/gpu: "1"
      requests:
        cpu: "4"
        memory: 16Gi
        nvidia.com/gpu: "1"
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: File
    volumeMounts:
    - mountPath: /data
      name: data
    - mountPath: /var/run/secrets/kubernetes.io/serviceaccount
      name: kube-api-access-x
      readOnly: true
  dnsPolicy: ClusterFirst
  enableServiceLinks: true
  nodeName: node-1
  preemptionPolicy: PreemptLowerPriority
  priority: 0
  restartPolicy: Always
  schedulerName: default-scheduler
  securityContext: {{}}
  serviceAccount: default
  serviceAccountName: default
  terminationGracePeriodSeconds: 30
  tolerations:
  - effect: NoExecute
    key: node.kubernetes.io/not-ready
    operator: Exists
    tolerationSeconds: 300
  volumes:
  - name: data
    persistentVolumeClaim:
      claimName: data
  - name: kube-api-access-x
    projected:
      defaultMode: 420
      sources:
      - serviceAccountToken:
          expirationSeconds: 3607
          path: token
status:
  conditions:
  - lastProbeTime: null
    lastTransitionTime: "2026-11-01T10:00:00Z"
    status: "True"
    type: Ready
  hostIP: 10.1.1.1
  phase: Running
  qosClass: Burstable
"""


def main() -> None:
    """Measure, and print one line for each way to write the pods down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()

    pods = [POD.format(n=n).encode() for n in range(options.pods)]
    items = b"".join(b"- " + pod.replace(b"\n", b"\n  ")[:-2] for pod in pods)
    stream = b"".join(b"---\n" + pod for pod in pods)
    values = [found.value for found in read(stream, "pods") if isinstance(found, Document)]
    inputs = {
        "documents": stream,
        "List": b"apiVersion: v1\nitems:\n" + items + b'kind: List\nmetadata:\n  resourceVersion: ""\n',
        "JSON List": json.dumps({"apiVersion": "v1", "items": values, "kind": "List"}, indent=4).encode(),
    }

    def compose() -> None:
        for pod in pods:
            yaml.CSafeLoader(pod).get_single_node()

    def reading(data: bytes) -> Callable[[], None]:
        def run() -> None:
            count = sum(isinstance(found, Document) for found in read(data, "pods"))
            assert count == len(pods), f"{count} of {len(pods)} pods were read"

        return run

    runs = {"compose": compose, **{name: reading(data) for name, data in inputs.items()}}
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(options.rounds):
        for name, run in runs.items():
            gc.collect()
            if name == "compose":
                gc.disable()
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
            gc.enable()
    print(f"{options.pods} pods, {len(stream) / 1e6:.1f} MB; compose {statistics.median(times['compose']):.3f} s")
    for name, data in inputs.items():
        ratio = statistics.median(a / b for a, b in zip(times[name], times["compose"], strict=True))
        print(f"{name:10} {len(data) / 1e6:5.1f} MB {statistics.median(times[name]):6.3f} s  ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
