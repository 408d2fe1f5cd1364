"""`gpugate board`: files, and what is wrong said in a line."""

import json
import socket
from pathlib import Path

import pytest

from tests.board.samples import namespace, rollout, snapshot
from tests.cli.conftest import Gpugate
from tests.controlplane import ControlPlane


@pytest.fixture
def scan(tmp_path: Path) -> str:
    """The sample rollout, as a file."""
    file = tmp_path / "scan.json"
    file.write_bytes(rollout().to_json())
    return str(file)


def test_the_command_writes_the_files(gpugate: Gpugate, scan: str, tmp_path: Path) -> None:
    folder = tmp_path / "public" / "board"
    first = gpugate("board", "--snapshot", scan, "--export", str(folder))
    assert (first.code, first.out) == (0, "")
    assert first.err == (
        f"17 files in {folder}; open {folder / 'index.html'}\nNote: 1 thing could not be read; the board says which\n"
    )
    # Again, of a cluster that has less: what is left of the first is gone, what is not ours is not.
    (folder / "notes.txt").write_text("mine")
    less = snapshot([namespace("only", "warn", (1, 0, 0, 0))]).to_json()
    assert gpugate("board", "--snapshot", "-", "--export", str(folder), stdin=less).code == 0
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*")) == [
        "board.css", "board.js", "index.html", "namespaces/only.html", "notes.txt",
    ]  # fmt: skip


def test_it_leaves_a_folder_alone_that_holds_something_else(gpugate: Gpugate, scan: str, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p>mine")
    (tmp_path / "namespaces").mkdir()
    done = gpugate("board", "--snapshot", scan, "--export", str(tmp_path))
    assert done.code == 2
    assert done.err == (
        f"Error: {tmp_path} is not empty and holds no board of gpugate: give --export a new folder, or an empty one\n"
    )
    assert (tmp_path / "index.html").read_text() == "<p>mine"


def test_a_folder_that_cannot_be_written(gpugate: Gpugate, scan: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = gpugate("board", "--snapshot", scan, "--export", str(tmp_path / "file" / "board"))
    assert done.code == 2
    assert done.err == f"Error: {tmp_path / 'file' / 'board'} cannot be written: Not a directory\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no snapshot of gpugate scan: "),
        (b"{}", "is no snapshot of gpugate scan: "),
        (b'{"version": 2}', "is no snapshot of gpugate scan: /version: this gpugate reads version 1, found 2"),
        (b"\xff\xfe", "is no snapshot of gpugate scan: "),
        (None, "cannot be read: No such file or directory"),
    ],
)
@pytest.mark.parametrize("export_to", [[], ["--export", "out"]])
def test_a_broken_snapshot_is_one_line(
    gpugate: Gpugate, tmp_path: Path, content: bytes | None, said: str, export_to: list[str]
) -> None:
    file = tmp_path / "scan.json"
    if content is not None:
        file.write_bytes(content)
    done = gpugate("board", "--snapshot", str(file), *export_to)
    assert done.code == 2
    assert done.err.startswith(f"Error: {file} {said}")
    assert done.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_port_in_use(gpugate: Gpugate, scan: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = gpugate("board", "--snapshot", scan, "--port", str(port))
    assert done.code == 2
    assert done.err == f"Error: cannot listen on 127.0.0.1:{port}: Address already in use; choose another with --port\n"


@pytest.mark.parametrize("export_to", [[], ["--export", "out"]])
def test_a_cluster_that_is_not_there_is_one_line(gpugate: Gpugate, folder: Path, export_to: list[str]) -> None:
    unreachable = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    (folder / "kubeconfig").write_text(json.dumps(unreachable))
    done = gpugate("board", "--policy", "shipped", "--kubeconfig", "kubeconfig", "--port", "0", *export_to)
    assert done.code == 2
    assert done.err.removeprefix("scanning the cluster ...\n") == (
        'Error: the cluster of context "x" cannot be reached at https://127.0.0.1:1: connection refused\n'
    )
    assert not (folder / "out").exists()


def test_who_may_not_look_is_told_what_is_missing(gpugate: Gpugate, control_plane: ControlPlane) -> None:
    nobody = str(control_plane.kubeconfig_for("board-nobody"))
    done = gpugate("board", "--policy", "shipped", "--kubeconfig", nobody, "--export", "out")
    assert done.code == 2
    assert done.err.startswith(
        'Error: user "board-nobody" may not list namespaces in the whole cluster: a ClusterRole '
    )
    assert done.err.count("\n") == 1


def test_a_policy_that_cannot_be_used(gpugate: Gpugate, folder: Path, control_plane: ControlPlane) -> None:
    (folder / "policy.yaml").write_text("kind: GpuPolicy\n")
    kubeconfig = str(control_plane.kubeconfig)
    done = gpugate("board", "--policy", "policy.yaml", "--kubeconfig", kubeconfig, "--export", "out")
    assert done.code == 2
    assert done.err.startswith("Error: the policy cannot be used: policy.yaml:1:1: ")
    assert gpugate("board", "--export", "out").err.splitlines()[-1].startswith("Error: there is no policy: ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--snapshot", "a", "--context", "b"], "--snapshot takes the place of a cluster"),
        (["--snapshot", "a", "--policy", "b"], "--snapshot takes the place of a cluster"),
        (["--snapshot", "a", "--allow-promote"], "--allow-promote is for a cluster"),
        (["--policy", "shipped", "--export", "a", "--allow-promote"], "--allow-promote is for a cluster"),
        (["--port", "65536"], "65536 is not in the range"),
    ],
)
def test_options_that_contradict_each_other(gpugate: Gpugate, arguments: list[str], said: str) -> None:
    done = gpugate("board", *arguments)
    assert done.code == 2
    assert said in done.err
