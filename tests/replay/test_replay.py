"""`gpugate replay`: what it reads, what it says, how it ends."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from app.sources import recordings
from tests.cli.conftest import Gpugate
from tests.engine.policies import POLICIES, SHIPPED
from tests.replay.cluster import Cluster
from tests.support.cluster import gpu_pod
from tests.support.memory import measured

ROOT = Path(__file__).parents[2]
NO_ANSWER = "compared with being let in as sent; --old-policy compares with another policy"
NO_MODE = "judged in the one that the policy has for the namespace, pinned or by default; --mode chooses another"


def owned(name: str, owner: str, kind: str = "ReplicaSet", **spec: Any) -> dict[str, Any]:
    """A pod as a controller makes it."""
    pod = gpu_pod(gpus=2, **spec)
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": "1", "controller": True}
    pod["metadata"] = {"generateName": name, "ownerReferences": [reference], "labels": {"pod-template-hash": "6d5f"}}
    return pod


@pytest.fixture
def recorded(folder: Path) -> Path:
    """Three pods of a Deployment, and a pod by itself, let in by the shipped policy in enforce."""
    cluster = Cluster(POLICIES["shipped"], "enforce", folder / "recorded")
    for _ in range(3):
        cluster.create(owned("trainer-6d5f-", "trainer-6d5f"), "team-a")
    cluster.create(gpu_pod("small"), "team-b")
    cluster.close()
    return folder / "recorded"


@pytest.fixture
def strict(folder: Path) -> str:
    """The shipped policy, and one GPU a pod."""
    policy = yaml.safe_load(SHIPPED.read_text())
    policy["spec"]["rules"].append({"rule": "max-gpus", "with": {"perPod": {"nvidia.com/gpu": 1}}})
    (folder / "strict.yaml").write_text(yaml.safe_dump(policy))
    return "strict.yaml"


def test_the_text(gpugate: Gpugate, recorded: Path, strict: str) -> None:
    outcome = gpugate("replay", "--policy", strict, "recorded")
    lines = outcome.out.splitlines()
    assert lines[0] == "newly refused: 3 pods"
    assert lines[1] == "  team-a (enforce) Deployment/trainer: gpu-pods/max-gpus, 3 pods"
    assert lines[2].startswith("    the pod asks for 2 nvidia.com/gpu")
    assert lines[4].startswith("4 pods in 1 file, 20")
    assert lines[4].endswith(" UTC: 3 newly refused, 1 as before.")
    assert (outcome.code, outcome.err, len(lines)) == (1, "", 5)


def test_the_json(gpugate: Gpugate, recorded: Path, strict: str) -> None:
    result = gpugate("replay", "--policy", strict, "--old-policy", "shipped", "-o", "json", "recorded").json()
    (group,) = result["groups"]
    assert group.keys() == {"change", "namespace", "mode", "owner", "rule", "pods", "first", "last", "example"}
    assert group["example"]["name"] == "trainer-6d5f-*"
    assert group["example"]["place"].startswith("recorded/reviews-")
    assert group["first"] <= group["last"]
    assert result["version"] == 1
    assert result["oldPolicy"]["documents"] == ["gpu-pods"]
    summary = result["summary"]
    assert (summary["pods"], summary["lines"], summary["newlyRefused"], summary["same"]) == (4, 8, 3, 1)
    page = (ROOT / "docs/replay.md").read_text()
    for keys in (result, group, group["example"], summary):
        assert all(f"`{key}`" in page for key in keys), keys


@pytest.mark.parametrize(
    ("policy", "fail_on", "code"),
    [("strict.yaml", "newly-refused", 1), ("strict.yaml", "change", 1), ("strict.yaml", "none", 0),
     ("shipped", "change", 0), ("looser.yaml", "newly-refused", 0), ("looser.yaml", "change", 1)],
)  # fmt: skip
def test_exit_codes(
    gpugate: Gpugate, recorded: Path, strict: str, folder: Path, policy: str, fail_on: str, code: int
) -> None:
    looser = yaml.safe_load(SHIPPED.read_text())
    del looser["spec"]["inject"]
    (folder / "looser.yaml").write_text(yaml.safe_dump(looser))
    assert gpugate("replay", "--policy", policy, "--fail-on", fail_on, "recorded").code == code


def test_what_cannot_be_read_is_named_and_the_rest_is_compared(
    gpugate: Gpugate, recorded: Path, strict: str, folder: Path
) -> None:
    (written,) = recorded.iterdir()
    good = written.read_bytes()
    (folder / "torn.jsonl").write_bytes(good + b'{"apiVersion": "admission.k8s.io/v1", "ki')
    (folder / "odd.jsonl").write_text('{"kind": "AdmissionReview"}\n[1]\n"text"\n\n{"findings": 1}\n')
    (folder / "cut.jsonl.gz").write_bytes(gzip.compress(good)[:-40])
    (folder / "empty").mkdir()
    outcome = gpugate(
        "replay", "--policy", strict, "torn.jsonl", "odd.jsonl", "cut.jsonl.gz", "empty", "missing.json", "-o", "json"
    )
    assert outcome.code == 2
    errors = outcome.json()["errors"]
    assert outcome.err.count("Error: ") == len(errors) == 8
    for said in (
        "torn.jsonl:9: not JSON: ", "odd.jsonl:1: expected an AdmissionReview", "odd.jsonl:2: the body is not",
        "odd.jsonl:3: the body is not", "odd.jsonl:5: expected an AdmissionReview", "cut.jsonl.gz: the gzip data is",
        "empty: there is no file that ends in .json, .jsonl, .log", "missing.json: cannot be read: No such file",
    ):  # fmt: skip
        assert any(error.startswith(said) for error in errors), (said, errors)
    assert outcome.json()["summary"]["newlyRefused"] >= 3


def test_many_lines_that_cannot_be_read(gpugate: Gpugate, folder: Path) -> None:
    (folder / "binary.log").write_bytes(b"\x01\xff\n" * 500)
    outcome = gpugate("replay", "--policy", "shipped", "binary.log")
    assert outcome.code == 2
    assert outcome.err.count("\n") == 21
    assert "Error: and 480 more that cannot be read" in outcome.err
    assert outcome.out.endswith("500 could not be read.\n")


def test_every_way_to_store_it(gpugate: Gpugate, recorded: Path, strict: str, folder: Path) -> None:
    (written,) = recorded.iterdir()
    lines = written.read_bytes().splitlines()
    values = [orjson.loads(line) for line in lines]
    packed = folder / "packed"
    packed.mkdir()
    (packed / "a.jsonl.gz").write_bytes(gzip.compress(b"\n".join(lines[:2]) + b"\n"))
    (packed / "b.json").write_text(json.dumps(values[2:4], indent=2))
    (packed / "c.log").write_text(json.dumps({"kind": "List", "items": values[4:6]}) + "\r\n\r\n")
    (packed / "d.json").write_text(json.dumps(values[6], indent=2))
    (packed / "e.json").write_bytes(lines[7])
    (packed / ".hidden.json").write_text("x")
    (packed / "notes.txt").write_text("x")
    outcome = gpugate("replay", "--policy", strict, "packed")
    assert "4 pods in 5 files" in outcome.out
    assert "3 newly refused, 1 as before" in outcome.out


def test_standard_input(folder: Path, recorded: Path, strict: str) -> None:
    (written,) = recorded.iterdir()
    command = [sys.executable, "-P", "-m", "app.cli", "replay", "--policy", strict, "-"]
    done = subprocess.run(
        command, input=gzip.compress(written.read_bytes()), capture_output=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert b"3 newly refused, 1 as before" in done.stdout, done.stderr


def test_the_recordings_of_two_servers_are_one_story(gpugate: Gpugate, recorded: Path, strict: str) -> None:
    """One server answers the first call for a pod, the other the second."""
    (written,) = recorded.iterdir()
    lines = written.read_bytes().splitlines(keepends=True)
    for name, turn in (("one", (0, 3)), ("two", (1, 2))):
        (recorded.parent / name).mkdir()
        own = b"".join(line for index, line in enumerate(lines) if index % 4 in turn)
        (recorded.parent / name / "reviews.jsonl").write_bytes(own)
    outcome = gpugate("replay", "--policy", strict, "one", "two")
    assert "4 pods in 2 files" in outcome.out
    assert "3 newly refused, 1 as before" in outcome.out


def test_plain_reviews_have_neither_answer_nor_mode(gpugate: Gpugate, folder: Path) -> None:
    review: dict[str, Any] = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
    request = {"uid": "1", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "operation": "CREATE"}
    pod = gpu_pod()
    pod["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    reviews = [{**review, "request": {**request, "namespace": "team", "object": pod}}]
    reviews.append({**review, "request": {**request, "kind": {"group": "apps", "kind": "Deployment"}, "object": {}}})
    reviews.append({**review, "request": {**request, "operation": "DELETE"}})
    (folder / "reviews.json").write_text(json.dumps(reviews, indent=1))
    outcome = gpugate("replay", "--policy", "shipped", "reviews.json")
    assert "team (audit) Pod/gpu: gpu-pods/no-privileged, 1 pod" in outcome.out
    assert outcome.err.splitlines() == [
        "Note: left out: 1 reviews of other objects than pods",
        "Note: left out: 1 reviews of other operations than CREATE and UPDATE",
        f"Note: for 1 pod no answer is recorded: {NO_ANSWER}",
        f"Note: for 1 pod no mode is recorded: {NO_MODE}",
    ]
    outcome = gpugate("replay", "--policy", "shipped", "--old-policy", "shipped", "--mode", "enforce", "reviews.json")
    assert outcome.code == 0
    assert not [line for line in outcome.err.splitlines() if "left out" not in line]


def test_a_pod_that_no_api_server_would_take(gpugate: Gpugate, recorded: Path, folder: Path) -> None:
    (written,) = recorded.iterdir()
    value = orjson.loads(written.read_bytes().splitlines()[0])
    value["request"]["object"]["spec"]["containers"] = "none"
    (folder / "odd.jsonl").write_bytes(orjson.dumps(value))
    outcome = gpugate("replay", "--policy", "shipped", "odd.jsonl")
    assert "Deployment/trainer: unreadable, 1 pod\n    spec.containers must be a list, found text" in outcome.out


def test_a_line_without_end(gpugate: Gpugate, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "MAX_LINE", 1024 * 1024)
    (folder / "long.log").write_bytes(b"x" * 3_500_000 + b"\n{}\n")
    outcome = gpugate("replay", "--policy", "shipped", "long.log")
    assert "long.log:1: the line is longer than 1 MiB" in outcome.err
    assert "long.log:2: expected an AdmissionReview" in outcome.err


def test_memory_does_not_grow_with_the_input(folder: Path, recorded: Path, strict: str) -> None:
    (written,) = recorded.iterdir()
    lines = written.read_bytes()
    (folder / "small.jsonl").write_bytes(lines)
    with (folder / "large.jsonl").open("wb") as file:
        for _ in range(1500):
            file.write(lines)

    small, large = (
        measured("replay", "--policy", strict, name, folder=folder) for name in ("small.jsonl", "large.jsonl")
    )
    assert small.code == large.code == 1, large.err
    assert large.peak < small.peak + 30


def test_wrong_usage(gpugate: Gpugate, recorded: Path) -> None:
    assert gpugate("replay", "--policy", "shipped").code == 2
    assert gpugate("replay", "recorded").code == 2
    assert gpugate("replay", "--policy", "shipped", "--cluster-facts", "none.json", "recorded").code == 2
    assert gpugate("replay", "--policy", "shipped", "--old-policy", "none.yaml", "recorded").code == 2
