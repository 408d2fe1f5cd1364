"""The Dockerfile, without an engine: hadolint reads it, and its steps are run where they can be."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from app.manifests.install.settings import USER
from app.server.dev import ensure_certificates
from tests.controlplane import wait_for

ROOT: Final = Path(__file__).parents[2]
DOCKERFILE: Final = ROOT / "Dockerfile"
_BIN: Final = Path(sys.executable).parent
_CONTINUED: Final = re.compile(r"\\\n\s*")


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions and what they are given."""
    text = _CONTINUED.sub("", DOCKERFILE.read_text())
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines)]


def last_stage() -> list[tuple[str, str]]:
    listed = instructions()
    return listed[max(place for place, (name, _) in enumerate(listed) if name == "FROM") :]


def hadolint(file: Path) -> subprocess.CompletedProcess[str]:
    command = [str(_BIN / "hadolint"), "--no-color", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_hadolint_finds_nothing() -> None:
    result = hadolint(DOCKERFILE)
    assert (result.returncode, result.stdout) == (0, "")


def test_hadolint_would_find_something(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM python\nRUN pip install flask\n")
    assert "DL3006" in hadolint(tmp_path / "Dockerfile").stdout


def test_every_dependency_is_checked_by_its_hash() -> None:
    installs = [rest for name, rest in instructions() if name == "RUN" and "pip install" in rest]
    assert len(installs) == 2
    assert "--require-hashes" in installs[0]
    assert "-r requirements.txt" in installs[0]
    assert "--no-deps --no-build-isolation ." in installs[1]
    assert "pip uninstall --yes hatchling pip" in installs[1]


def test_the_last_stage_only_copies_and_is_not_root() -> None:
    stage = last_stage()
    assert {name for name, _ in stage} == {"FROM", "COPY", "ENV", "USER", "WORKDIR", "EXPOSE", "ENTRYPOINT", "CMD"}
    assert ("USER", f"{USER}:{USER}") in stage
    assert [rest for name, rest in stage if name == "COPY"] == ["--from=build /opt/gpugate /opt/gpugate"]


def test_the_base_has_an_exact_version() -> None:
    (base,) = [rest for name, rest in instructions() if name == "ARG"]
    assert re.fullmatch(r"BASE=docker\.io/library/python:3\.\d+\.\d+-slim-\w+(@sha256:[0-9a-f]{64})?", base)
    assert {rest.split()[0] for name, rest in instructions() if name == "FROM"} == {"${BASE}"}


@pytest.fixture(scope="module")
def installed() -> Iterator[Path]:
    """gpugate, installed as the first stage does from nothing but the files that it copies; readable by everybody."""
    folder = Path(tempfile.mkdtemp(prefix="gpugate-image-"))
    folder.chmod(0o755)
    source = folder / "src"
    for name, rest in instructions():
        if name == "COPY" and "--from" not in rest:
            *copied, destination = rest.split()
            for each in copied:
                target = source / (destination if destination != "./" else each)
                target.parent.mkdir(parents=True, exist_ok=True)
                copy = shutil.copytree if (ROOT / each).is_dir() else shutil.copy
                copy(ROOT / each, target)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--target", str(folder / "site"), "."], cwd=source, check=True, timeout=120)
    yield folder / "site"
    shutil.rmtree(folder)


def as_user() -> list[str]:
    """Only root can become somebody else; whoever else runs this is not root already.

    This Python may be in a home that others cannot read; nobody has to read it in the image.
    """
    reading = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    become = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *reading]
    return become if os.geteuid() == 0 else []


def start(site: Path, *arguments: str) -> subprocess.Popen[str]:
    """The entry point as the image's user, who may write nothing and has no home."""
    code = f"import sys; sys.path.insert(0, {str(site)!r}); from app.cli.main import run; run()"
    return subprocess.Popen(
        [*as_user(), sys.executable, "-P", "-c", code, *arguments],
        cwd="/",
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_entry_point_runs_as_its_user_from_what_is_copied(installed: Path) -> None:
    assert ("ENTRYPOINT", '["gpugate"]') in last_stage()
    with start(installed, "manifests", "--policy", "shipped", "--install") as process:
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "kind: Deployment" in output


def test_the_server_writes_no_file(installed: Path) -> None:
    certificates = installed.parent / "certs"
    ensure_certificates(certificates, None)
    certificates.chmod(0o755)
    for file in certificates.iterdir():
        file.chmod(0o444)
    ports = ("--host", "127.0.0.1", "--port", "0", "--metrics-port", "0")
    with start(installed, "serve", "--policy", "shipped", "--cert-dir", str(certificates), *ports) as process:
        try:
            assert process.stdout is not None
            line = json.loads(process.stdout.readline())
            assert line["event"] == "listening", line
            wait_for(lambda: opened_for_writing(process.pid) == [], message="no regular file open for writing")
        finally:
            process.kill()


def opened_for_writing(pid: int) -> list[str]:
    """The regular files that the process has open for writing."""
    found = []
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        flags = re.search(r"^flags:\s*(\d+)", Path(f"/proc/{pid}/fdinfo/{descriptor.name}").read_text(), re.MULTILINE)
        if descriptor.is_file() and flags and int(flags[1], 8) & (os.O_WRONLY | os.O_RDWR):
            found.append(str(descriptor.readlink()))
    return found


def test_the_list_of_parts_has_every_dependency(tmp_path: Path) -> None:
    """As `make sbom` makes it, validated by its maker."""
    recipe = re.search(r"cyclonedx-py (.*?)\n\n", (ROOT / "Makefile").read_text(), re.DOTALL)
    assert recipe is not None
    arguments = recipe[1].replace("\\\n", " ").replace("dist/gpugate.cdx.json", str(tmp_path / "sbom.json")).split()
    result = subprocess.run(
        [str(_BIN / "cyclonedx-py"), *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert result.returncode == 0, result.stderr
    listed = json.loads((tmp_path / "sbom.json").read_text())
    assert listed["bomFormat"] == "CycloneDX"
    assert listed["metadata"]["component"]["name"] == "gpugate"
    pinned = set(re.findall(r"^([\w.-]+)==", (ROOT / "requirements.txt").read_text(), re.MULTILINE))
    assert {part["name"] for part in listed["components"]} == pinned
    assert all(
        part.get("hashes") or any(reference.get("hashes") for reference in part.get("externalReferences", ()))
        for part in listed["components"]
    )
