"""What a stricter policy would change about pods that a real API server was sent: from both kinds of recording."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from app.sources.policies import shipped_policy
from tests.apiserver.data import deployment
from tests.controlplane import ControlPlane, wait_for
from tests.support.cluster import Installed, cpu_pod, gpu_pod, installed
from tests.support.server import Server

GPUS = {"nvidia.com/gpu": 2}


class Recorded(NamedTuple):
    """What happened, recorded by the server and by the API server; ``strict`` is the policy to come."""

    gate: Installed
    enforce: str
    audit: str
    folder: Path
    audit_log: Path
    strict: Path


def replay(*arguments: str | Path) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, "-P", "-m", "app.cli", "replay", "-o", "json", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def groups(result: dict[str, Any]) -> set[tuple[str, str, str, str, str | None, int]]:
    return {
        (each["change"], each["namespace"], each["mode"], each["owner"], each["rule"], each["pods"])
        for each in result["groups"]
    }


def counts(result: dict[str, Any]) -> dict[str, int]:
    """The counts of the summary that are not zero."""
    summary = {key: value for key, value in result["summary"].items() if type(value) is int and value}
    return {key: value for key, value in summary.items() if key not in ("files", "lines", "withoutMode")}


def strict_policy() -> dict[str, Any]:
    """The shipped policy with two GPUs a pod too many, another node selector, and privileged pods let in."""
    policy: dict[str, Any] = yaml.safe_load(shipped_policy().read_bytes())
    spec = policy["spec"]
    for rule in spec["rules"]:
        if rule["rule"] == "no-privileged":
            rule["action"] = "warn"
    spec["rules"].append({"rule": "max-gpus", "with": {"perPod": {"nvidia.com/gpu": 1}}})
    spec["inject"][0]["nodeSelector"]["pool"] = "training"
    return policy


def privileged(name: str) -> dict[str, Any]:
    pod = gpu_pod(name)
    pod["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    pod["spec"]["containers"][0]["env"] = [{"name": "TOKEN", "value": "hunter2"}]
    return pod


@pytest.fixture(scope="module")
def recorded(plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    """Pods applied by kubectl and made by controllers, in an enforced and an audited namespace."""
    home = tmp_path_factory.mktemp("replay")
    folder, strict, log = home / "recorded", home / "strict.yaml", home / "audit.log"
    strict.write_text(yaml.safe_dump(strict_policy()))
    with Server("shipped", extra=["--record", str(folder)], drains=False) as server, installed(plane, server) as gate:
        enforce, audit = gate.namespace("enforce"), gate.namespace("audit")
        for namespace in (enforce, audit):
            gate.wait_until_known(namespace)

        def apply(namespace: str, obj: dict[str, Any]) -> int:
            return plane.kubectl("apply", "-n", namespace, "-f", "-", input=json.dumps(obj), check=False).returncode

        assert apply(enforce, deployment("trainer", gpu_pod(gpus=2)["spec"], replicas=2)) == 0
        assert apply(enforce, gpu_pod("one")) == 0
        assert apply(enforce, privileged("root")) == 1
        assert apply(enforce, cpu_pod("web", nodeSelector={"accelerator": "nvidia-gpu"})) == 0
        assert apply(audit, gpu_pod("two", gpus=2)) == 0
        assert apply(audit, gpu_pod("tried")) == 0
        plane.kubectl("apply", "-n", audit, "--dry-run=server", "-f", "-", input=json.dumps(gpu_pod("dry", gpus=2)))
        debugger = {"name": "debug", "image": "registry.example.com/debug:1", "securityContext": {"privileged": True}}
        pod = gate.pod(enforce, "one")
        pod["spec"]["ephemeralContainers"] = [debugger]
        path = f"/api/v1/namespaces/{enforce}/pods/one/ephemeralcontainers"
        plane.client().put(path, pod).expect(403)

        def all_recorded() -> bool:
            created = plane.client().get(f"/api/v1/namespaces/{enforce}/pods").expect(200)["items"]
            return len(created) == 4 and server.metric("gpugate_recorded_reviews_total", result="written") >= 14

        wait_for(all_recorded, message="every review in the recording")

        def own_events() -> bool:
            lines = plane.audit_log.read_bytes().splitlines(keepends=True)
            own = [line for line in lines if enforce.encode() in line or audit.encode() in line]
            log.write_bytes(b"".join(own))
            # The last that happened was the debugger, after the creation of the pods by the controllers.
            events = [json.loads(line) for line in own if line.endswith(b"\n")]
            pods = [event for event in events if event["objectRef"]["resource"] == "pods"]
            return any(event["objectRef"].get("subresource") == "ephemeralcontainers" for event in pods)

        wait_for(own_events, message="every event in the audit log")
        yield Recorded(gate, enforce, audit, folder, log, strict)


def test_the_same_policy_changes_nothing(recorded: Recorded) -> None:
    for source in (recorded.folder, recorded.audit_log):
        code, result = replay("--policy", "shipped", source, "--fail-on", "change")
        assert (result["groups"], code) == ([], 0)
        assert counts(result) == {"pods": 8, "same": 8}


def test_a_stricter_policy_changes_exactly_this(recorded: Recorded) -> None:
    enforce, audit = recorded.enforce, recorded.audit
    for source in (recorded.folder, recorded.audit_log):
        code, result = replay("--policy", recorded.strict, source)
        assert code == 1
        assert groups(result) == {
            ("newly-refused", enforce, "enforce", "Deployment/trainer", "gpu-pods/max-gpus", 2),
            ("no-longer-refused", enforce, "enforce", "Pod/root", "gpu-pods/no-privileged", 1),
            ("no-longer-refused", enforce, "enforce", "Pod/one", "gpu-pods/no-privileged", 1),
            ("changed-differently", enforce, "enforce", "Pod/one", "gpu-pods/gpu-nodes", 1),
            ("newly-warned", audit, "audit", "Pod/two", "gpu-pods/max-gpus", 1),
        }
        assert counts(result) == {
            "pods": 8,
            "newlyRefused": 2,
            "noLongerRefused": 2,
            "changedDifferently": 1,
            "newlyWarned": 1,
            "same": 2,
        }


def test_two_policies_compare_as_the_recorded_answer_does(recorded: Recorded) -> None:
    for source in (recorded.folder, recorded.audit_log):
        _, with_answer = replay("--policy", recorded.strict, source)
        _, with_policy = replay("--policy", recorded.strict, "--old-policy", "shipped", source)
        assert groups(with_policy) == groups(with_answer)


def test_the_next_mode(recorded: Recorded) -> None:
    """Everything enforced: what the audited pods would get."""
    _, result = replay("--policy", "shipped", "--mode", "enforce", recorded.folder)
    assert {each[0] for each in groups(result)} == {"newly-changed"}
    assert {each[3] for each in groups(result)} == {"Pod/two", "Pod/tried"}


def test_the_recording_says_nothing_that_is_nobodys_business(recorded: Recorded) -> None:
    written = b"".join(path.read_bytes() for path in recorded.folder.iterdir())
    assert b'"TOKEN"' in written
    assert b"hunter2" not in written
    assert b"last-applied-configuration" in written
    assert b"managedFields" not in written
