"""docs/replay.md: its transcript is what happens. GPUGATE_UPDATE_GOLDENS=1 writes it anew."""

import os
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import yaml

from app.policy.load import load
from tests.controlplane.components import AUDIT_POLICY
from tests.docs.transcripts import commands, rewritten, run, write_files
from tests.replay.cluster import Cluster
from tests.support.cluster import gpu_pod

PAGE = Path(__file__).parents[2] / "docs/replay.md"
START = datetime(2026, 11, 23, 8, tzinfo=UTC)


def owned(name: str, kind: str, owner: str, gpus: int) -> dict[str, Any]:
    """A pod as a controller makes it."""
    pod = gpu_pod(gpus=gpus)
    reference = {"apiVersion": "v1", "kind": kind, "name": owner, "uid": "1", "controller": True}
    pod["metadata"] = {"generateName": name, "ownerReferences": [reference], "labels": {"pod-template-hash": "6d5f"}}
    return pod


def record(folder: Path) -> None:
    """A week of the clusters that the page speaks of."""
    policy = load([("gpugate.yaml", (folder / "gpugate.yaml").read_bytes())])
    enforced, audited = Cluster(policy, "enforce", folder / "recorded"), Cluster(policy, "audit", folder / "audited")
    for _ in range(3):
        enforced.create(owned("trainer-6d5f-", "ReplicaSet", "trainer-6d5f", 8), "research")
    for _ in range(12):
        enforced.create(owned("tune-", "Job", "tune", 1), "research")
    enforced.create(privileged(gpu_pod("debug")), "research")
    audited.create(privileged(owned("lab-", "StatefulSet", "lab", 1)), "notebooks")
    audited.create(owned("batch-", "Job", "batch", 2), "notebooks")
    for cluster in (enforced, audited):
        cluster.close()
    for written in (*folder.glob("recorded/*"), *folder.glob("audited/*")):
        lines = [orjson.loads(line) for line in written.read_bytes().splitlines()]
        for number, line in enumerate(lines):
            line["time"] = START + timedelta(seconds=(number // 2) * 17_000 + number % 2)
        written.write_bytes(b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines))


def privileged(pod: dict[str, Any]) -> dict[str, Any]:
    pod["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    return pod


def test_the_transcript(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    write_files(page, tmp_path)
    record(tmp_path)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    outputs = [run(command.line, tmp_path, {"PATH": path}) for command in commands(page)]
    if os.environ.get("GPUGATE_UPDATE_GOLDENS") == "1":
        PAGE.write_text(rewritten(page, outputs), encoding="utf-8")
    assert rewritten(page, outputs) == PAGE.read_text(encoding="utf-8")
    assert len(outputs) == 2


def test_the_audit_policy_has_the_level_that_the_tests_run_with() -> None:
    """Its pods are what tests/apiserver/test_replay.py reads from a real API server."""
    text = re.findall(r"^```yaml\n# audit-policy.yaml\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)[0]
    (shown,) = [rule for rule in yaml.safe_load(text)["rules"] if rule["level"] == "Request"]
    rules: Any = AUDIT_POLICY["rules"]
    (used,) = [rule for rule in rules if rule["level"] == "Request"]
    assert shown["resources"] == used["resources"]
