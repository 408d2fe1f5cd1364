"""`serve --record`: what is written, what is not, and that nothing ever waits for it."""

import errno
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from app.admission.judge import judge
from app.admission.review import read_request
from app.admission.webhook import review as answer
from app.model.context import ClusterFacts, Context
from app.model.pod import MalformedPod, Pod
from app.server import record_files, recording
from app.server.log import JsonLog
from app.server.recording import Recording
from app.server.redaction import REDACTED, Redaction
from tests.contract.fixtures import objects
from tests.engine.policies import POLICIES, TODAY
from tests.server.inprocess import service
from tests.server.samples import gpu_pod, privileged_pod, response, review
from tests.support import pods as valid
from tests.support.server import Server

ROOT = Path(__file__).parents[2]
SHIPPED = POLICIES["shipped"]


def lines(folder: Path) -> list[dict[str, Any]]:
    """All that was recorded, whole lines only."""
    found = [path.read_bytes() for path in sorted(folder.iterdir())]
    assert all(content.endswith(b"\n") for content in found if content)
    return [orjson.loads(line) for content in found for line in content.splitlines()]


def add(taken: Recording, pod: Any = None, phase: Any = "validate", **request: Any) -> None:
    """Take a review as it was answered in enforce."""
    body = json.dumps(review(pod, **request)).encode()
    read = read_request(orjson.loads(body))
    context = Context(read.namespace, TODAY, ClusterFacts())
    taken.add(phase, SHIPPED.digest, read, body, answer(SHIPPED, phase, "enforce", read, context))


def counts(taken: Recording) -> dict[str, float]:
    (family,) = taken.collect()
    return {sample.labels["result"]: sample.value for sample in family.samples}


@pytest.fixture
def taken(tmp_path: Path) -> Iterator[Recording]:
    made = Recording(tmp_path / "recorded")
    yield made
    made.close()


def test_a_server_records_what_it_answers(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "recorded"
    with Server(extra=["--record", str(folder)]) as server:
        response(server.post("/mutate/enforce", review()))
        response(server.post("/validate/enforce", review(privileged_pod(), userInfo={"username": "ada", "uid": "7"})))
        response(server.post("/validate/enforce", review(privileged_pod(), dryRun=True)))
        response(server.post("/validate/audit", review({"stringData": {"a": "b"}}, kind={"kind": "Secret"})))
    one, two = lines(folder)
    assert (one["phase"], one["mode"], one["verdict"]) == ("mutate", "enforce", "changed")
    assert one["findings"][0]["operations"][0]["path"] == "/spec/containers/0/resources/limits"
    assert one["request"]["userInfo"] == {"username": "ada", "groups": ["ml"]}
    assert (two["phase"], two["verdict"], two["request"]["userInfo"]) == ("validate", "refused", {"username": "ada"})
    assert two["findings"][0]["rule"] == "no-privileged"
    assert two["policy"].startswith("sha256:")
    assert two["time"].endswith("Z")
    (written,) = folder.iterdir()
    assert (written.stat().st_mode & 0o777, folder.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_folder_that_cannot_be_written_to_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    command = [sys.executable, "-P", "-m", "app.cli", "serve", "--policy", "shipped", "--dev", "--port", "0"]
    command += ["--metrics-port", "0", "--cert-dir", str(tmp_path / "certs"), "--record", str(tmp_path / "file")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert re.search(r"Error: reviews cannot be recorded in .*/file: File exists", done.stderr)


def test_without_it_nothing_is_made(tmp_path: Path) -> None:
    assert service(tmp_path / "log").recording is None


def test_values_go_and_what_rules_read_stays() -> None:
    pod = gpu_pod()
    pod["metadata"] |= {
        "annotations": {"a": "secret", "empty": "", "sidecar.istio.io/status": '{"containers":["main"]}'},
        "managedFields": [{"manager": "secret"}],
        "labels": {"app": "a"},
    }
    pod["status"] = {"message": "secret"}
    container = pod["spec"]["containers"][0]
    container |= {
        "env": [
            {"name": "TOKEN", "value": "secret"},
            {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"},
            {"name": "REF", "valueFrom": {"secretKeyRef": {"name": "token", "key": "a"}}},
        ],
        "command": ["secret"],
        "args": ["--token", "secret"],
        "livenessProbe": {"exec": {"command": ["secret"]}},
    }
    sent = review(pod, oldObject=pod, userInfo={"username": "ada", "groups": ["ml"], "extra": {"a": ["secret"]}})
    before = orjson.dumps(sent)
    found = Redaction().request(sent["request"])
    assert b'secret"' not in orjson.dumps(found).replace(b'"secretKeyRef"', b"")
    assert found["object"] == found["oldObject"]
    kept = found["object"]["spec"]["containers"][0]
    assert kept["env"] == [{"name": "TOKEN", "value": REDACTED}, *container["env"][1:]]
    assert kept["args"] == [REDACTED, REDACTED]
    assert found["object"]["metadata"]["annotations"] == {
        "a": REDACTED, "empty": "", "sidecar.istio.io/status": '{"containers":["main"]}'
    }  # fmt: skip
    assert orjson.dumps(sent) == before


def fixture_pods() -> list[dict[str, Any]]:
    """Every pod among the fixtures of rules, injections and the shipped policy's tests."""
    paths = [path for path in (ROOT / "policies").rglob("*.yaml") if "tests" in path.parts]
    return [each for path in paths for each in objects(path) if each.get("kind") == "Pod" and "spec" in each]


@pytest.mark.parametrize("name", POLICIES)
def test_the_verdict_on_a_redacted_pod_is_that_on_the_pod(name: str) -> None:
    redaction, context = Redaction(), Context("team", TODAY)
    found = [*valid.pods(seed=6, count=300), *fixture_pods()]
    assert len(found) > 350
    for pod in found:
        redacted = redaction.request({"object": pod})["object"]
        assert judged(name, redacted, context) == judged(name, pod, context)


def judged(name: str, pod: dict[str, Any], context: Context) -> object:
    try:
        return judge(POLICIES[name], Pod.of(pod), context, "enforce")
    except MalformedPod as error:
        return str(error)


@pytest.mark.parametrize(
    ("pointer", "value"),
    [("metadata", 1), ("metadata", "x"), ("spec", ["x"]), ("annotations", ["x"]), ("annotations", {"a": {"b": "x"}}),
     ("containers", "x"), ("containers", ["x"]), ("env", {"a": "x"}), ("env", ["x", 1.5, None]),
     ("env", [{"name": ["x"], "value": {"x": "x"}}]), ("command", "x"), ("args", [{"a": "x"}])],
)  # fmt: skip
def test_a_malformed_pod_stays_one_and_says_nothing(pointer: str, value: Any) -> None:
    container: dict[str, Any] = {"name": "a"}
    pod: dict[str, Any] = {"metadata": {"name": "a"}, "spec": {"containers": [container]}}
    places = {"annotations": pod["metadata"], "containers": pod["spec"], "env": container} | {
        "command": container, "args": container
    }  # fmt: skip
    places.get(pointer, pod)[pointer] = value
    redacted = Redaction().request({"object": pod})["object"]
    assert b'"x"' not in orjson.dumps(redacted).replace(b'["x"],"value"', b"")
    context = Context("team", TODAY)
    assert judged("shipped", redacted, context) == judged("shipped", pod, context)


def test_files_end_at_a_size_and_the_oldest_go(
    taken: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "recorded"
    (folder / "reviews-20200101T000000.000000Z-1.jsonl").write_text("{}\n")
    (folder / "notes.txt").write_text("not ours")
    monkeypatch.setattr(record_files, "MAX_RECORD_FILE", 4096)
    monkeypatch.setattr(record_files, "MAX_RECORD_FILES", 3)
    for number in range(60):
        add(taken, uid=str(number))
    taken.close()
    files = sorted(folder.glob("reviews-*"))
    assert len(files) == 3
    assert all(path.stat().st_size <= 4096 for path in files)
    assert (folder / "notes.txt").exists()
    uids = [int(orjson.loads(line)["request"]["uid"]) for path in files for line in path.read_bytes().splitlines()]
    assert uids == list(range(uids[0], 60))
    assert counts(taken) == {"written": 60, "lost": 0}


def test_a_full_disk_is_counted_and_said_once_and_ends(
    taken: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = threading.Event()
    write = os.write

    def sometimes(file: int, data: Any) -> int:
        if not full.is_set() or not isinstance(data, memoryview):
            return write(file, data)
        if len(data) > 100:
            return write(file, data[:100])  # what fits still goes
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("app.server.record_files.os.write", sometimes)
    log = JsonLog(os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT))
    add(taken, uid="before")
    wait_until(taken, 1)
    taken.report(log)
    full.set()
    add(taken, uid="lost-1")
    add(taken, uid="lost-2")
    wait_until(taken, 3)
    taken.report(log)
    taken.report(log)
    full.clear()
    add(taken, uid="after")
    wait_until(taken, 4)
    taken.report(log)
    assert [line["request"]["uid"] for line in lines(tmp_path / "recorded")] == ["before", "after"]
    assert counts(taken) == {"written": 2, "lost": 2}
    said = [json.loads(line) for line in (tmp_path / "log").read_bytes().splitlines()]
    assert [(line["event"], line.get("error")) for line in said] == [
        ("recording_failed", "No space left on device"),
        ("recording_resumed", None),
    ]


def test_a_slow_disk_holds_nobody_up(taken: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go, write = threading.Event(), os.write

    def slowly(file: int, data: Any) -> int:
        go.wait()
        return write(file, data)

    monkeypatch.setattr("app.server.record_files.os.write", slowly)
    monkeypatch.setattr(recording, "MAX_RECORD_PENDING", 20_000)
    monkeypatch.setattr(recording, "RECORD_CLOSE_TIMEOUT", 0.05)
    for number in range(200):
        add(taken, uid=str(number))
    lost = counts(taken)["lost"]
    assert 100 < lost < 200
    taken.close()  # gives up waiting
    go.set()
    wait_until(taken, 200)
    assert counts(taken) == {"written": 200 - lost, "lost": lost}


def test_a_review_that_is_too_long_or_too_deep_is_left_out(taken: Recording, tmp_path: Path) -> None:
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"a": deep}
    add(taken, gpu_pod(affinity=deep))
    add(taken, gpu_pod(hostAliases=[{"ip": "x" * 2_000_000}]))
    add(taken, gpu_pod(), uid="fits")
    taken.close()
    assert [line["request"]["uid"] for line in lines(tmp_path / "recorded")] == ["fits"]
    assert counts(taken) == {"written": 1, "lost": 2}


def wait_until(taken: Recording, total: int) -> None:
    """Wait until that many reviews are written or lost."""
    deadline = threading.Event()
    for _ in range(1000):
        if sum(counts(taken).values()) >= total:
            return
        deadline.wait(0.01)
    raise AssertionError(counts(taken))
