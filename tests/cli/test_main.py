"""The command as a whole: help, wrong usage, exit codes, and where it may be run."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.main import COMMANDS
from tests.cli.conftest import Gpugate

ROOT = Path(__file__).parents[2]
RUN = "from app.cli.main import run; run()"
SCRIPT = Path(sys.executable).parent / "gpugate"


def test_help_lists_every_command(gpugate: Gpugate) -> None:
    outcome = gpugate("--help")
    assert outcome.code == 0
    for name, summary in COMMANDS.items():
        assert f"  {name}" in outcome.out
        assert summary in outcome.out


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)], ids=lambda command: " ".join(command) or "-")
def test_help_of_every_command_shows_an_example(gpugate: Gpugate, command: tuple[str, ...]) -> None:
    outcome = gpugate(*command, "-h")
    assert outcome.code == 0
    assert "Example" in outcome.out
    assert "  gpugate " in outcome.out


def test_an_unknown_command_is_wrong_usage(gpugate: Gpugate) -> None:
    outcome = gpugate("chek")
    assert outcome.code == 2
    assert 'There is no command "chek". Did you mean "check"?' in outcome.err


@pytest.mark.parametrize(
    "arguments", [("check",), ("check", "--nope", "x"), ("--nope",), ("check", "--mode", "off", "x")]
)
def test_wrong_usage(gpugate: Gpugate, arguments: tuple[str, ...]) -> None:
    outcome = gpugate(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert "Error" in outcome.err


def test_version(gpugate: Gpugate) -> None:
    outcome = gpugate("--version")
    assert outcome.code == 0
    assert outcome.out.startswith("gpugate, version ")


def test_it_is_a_plugin_of_kubectl_by_name(gpugate: Gpugate) -> None:
    assert "Usage: kubectl gpugate check " in gpugate("check", "--help", name="/usr/bin/kubectl-gpugate").out


def test_ctrl_c_exits_130(gpugate: Gpugate, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_path: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("app.cli.check.load_policy", interrupted)
    assert gpugate("check", "x.yaml").code == 130


COMMAND_LINES = [
    pytest.param([sys.executable, "-P", "-c", RUN], id="module"),
    pytest.param(
        [str(SCRIPT)], id="script", marks=pytest.mark.skipif(not SCRIPT.exists(), reason="gpugate is not installed")
    ),
]


@pytest.mark.parametrize("command", COMMAND_LINES)
def test_it_works_in_a_folder_with_an_app_of_its_own(folder: Path, command: list[str]) -> None:
    (folder / "app.py").write_text("raise SystemExit('the wrong app')")
    (folder / "pod.yaml").write_text(
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: b}]}}"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    arguments = [*command, "check", "--policy", "shipped", "pod.yaml"]
    done = subprocess.run(arguments, capture_output=True, text=True, env=environment, check=False)
    assert done.stderr == ""
    assert done.stdout == "1 pod (0 with GPUs) in 1 file: all admitted as they are.\n"
    assert done.returncode == 0


def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    pods = ("{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: b}}\n---\n") * 2000
    command = [sys.executable, "-P", "-c", RUN, "check", "--policy", "shipped", "-"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(pods.encode())
        process.stdin.close()
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == -signal.SIGPIPE


SERVER = {"fastapi", "starlette", "uvicorn", "uvloop", "httptools", "prometheus_client", "asyncio"}
CLUSTER = {"kubernetes", "cryptography", "jinja2"}
KYVERNO = {"jmespath", "re2", "jsonpatch"}
POLICY = {"pydantic", "pydantic_core", "yaml", "orjson"}
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: b}]}\n"
TEST = (
    "apiVersion: gpugate.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: t}\npolicies: [shipped]\n"
    "cases: [{name: a, object: pod.yaml, expect: {allowed: true}}]\n"
)


@pytest.mark.parametrize(
    ("arguments", "kept_out"),
    [
        ("--help", SERVER | CLUSTER | KYVERNO | POLICY),
        ("--version", SERVER | CLUSTER | KYVERNO | POLICY),
        ("completion bash", SERVER | CLUSTER | KYVERNO | POLICY),
        ("check --policy shipped pod.yaml", SERVER | CLUSTER | KYVERNO),
        ("check --policy shipped -o sarif pod.yaml", SERVER | CLUSTER | KYVERNO),
        ("test test.yaml", SERVER | CLUSTER | KYVERNO),
        ("explain rule no-privileged", SERVER | CLUSTER | KYVERNO),
        ("explain file --policy shipped pod.yaml", SERVER | CLUSTER | KYVERNO),
        ("schema", SERVER | CLUSTER | KYVERNO),
    ],
)
def test_a_command_imports_no_library_that_it_does_not_use(folder: Path, arguments: str, kept_out: set[str]) -> None:
    (folder / "pod.yaml").write_text(POD)
    (folder / "test.yaml").write_text(TEST)
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr))\n" + RUN
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, *arguments.split()],
        capture_output=True, text=True, env=environment, check=True,
    )  # fmt: skip
    imported = set(done.stderr.split())
    assert "click" in imported
    assert imported & kept_out == set()
