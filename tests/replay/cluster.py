"""An API server as far as replay is concerned: it asks about a pod in two calls, and the server's part records them."""

import copy
from pathlib import Path
from typing import Any, NamedTuple

import jsonpatch
import orjson

from app.admission.recorded import Pod, pods
from app.admission.replay import effects
from app.admission.review import read_request
from app.admission.webhook import Answer, Phase, review
from app.model.context import UNKNOWN_CLUSTER, ClusterFacts, Context
from app.model.patch import Operation
from app.policy.compiled import Mode, Policy
from app.server.recording import Recording
from app.sources.recordings import Recordings
from app.workloads.defaulting import defaulted
from tests.engine.policies import TODAY

Object = dict[str, Any]
CHANGES = ("repair", "inject")


class Truth(NamedTuple):
    """What came of a pod: the rules that refused it, what was added, the rules that warned."""

    refused: bool
    denied: set[str]
    added: dict[tuple[str, bytes], int]
    warned: set[str]


class Cluster:
    """Pods in one namespace, under one policy in one mode; with a folder, what is asked is recorded there."""

    def __init__(
        self, policy: Policy, mode: Mode, folder: Path | None = None, facts: ClusterFacts = UNKNOWN_CLUSTER
    ) -> None:
        self.policy = policy
        self.mode = mode
        self.facts = facts
        self.recording = Recording(folder) if folder else None

    def create(self, pod: Object, namespace: str = "team", sidecar: Object | None = None) -> Truth:
        """Create a pod; another webhook adds the sidecar between the two calls."""
        pod = {**pod, "spec": defaulted(pod["spec"])}
        first = self.ask("mutate", namespace, pod)
        patch: list[Operation] = []
        if first.verdict == "changed":
            patch = [operation for finding in first.findings for operation in finding.operations]
            pod = jsonpatch.apply_patch(copy.deepcopy(pod), patch)
        findings = list(first.findings)
        refused = first.verdict == "refused" or (first.verdict == "error" and self.mode == "enforce")
        if not refused:
            metadata = {"name": f"{pod['metadata'].get('generateName', '')}x", **pod["metadata"]}
            containers = [*pod["spec"]["containers"], *([sidecar] if sidecar else [])]
            pod = {**pod, "metadata": metadata, "spec": defaulted({**pod["spec"], "containers": containers})}
            second = self.ask("validate", namespace, pod)
            refused = second.verdict == "refused"
            findings += second.findings
        said = [(f"{each.policy}/{each.rule}", each.outcome) for each in findings]
        return Truth(
            refused,
            {rule for rule, outcome in said if outcome == "deny" and refused},
            dict(effects(patch)),
            {rule for rule, outcome in said if outcome in ("deny", "warn") and not refused},
        )

    def ask(self, phase: Phase, namespace: str, pod: Object, **more: Any) -> Answer:
        """One call."""
        request = {
            "uid": "1",
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "operation": "CREATE",
            "namespace": namespace,
            "userInfo": {"username": "ada", "groups": ["ml"], "extra": {"token": ["hunter2"]}},
            "object": pod,
            **more,
        }
        body = orjson.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request})
        read = read_request(orjson.loads(body))
        answer = review(self.policy, phase, self.mode, read, Context(namespace, TODAY, self.facts))
        if self.recording:
            self.recording.add(phase, self.policy.digest, read, body, answer)
        return answer

    def close(self) -> None:
        """Everything is recorded after this."""
        assert self.recording is not None
        self.recording.close()


def recorded(*paths: Path) -> list[Pod]:
    """The pods of recordings, all of which can be read."""
    problems: list[str] = []
    found = list(pods(Recordings(map(str, paths), problems.append)))
    assert problems == []
    return found
