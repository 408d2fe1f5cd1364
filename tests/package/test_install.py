"""gpugate as its users install it: a wheel, or the folder itself; run from anywhere."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this folder, built without fetching anything."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--wheel-dir", str(folder), str(ROOT)], check=True, capture_output=True)
    (built,) = folder.glob("gpugate-*.whl")
    return built


@pytest.fixture(scope="module", params=["wheel", "editable"])
def gpugate(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command, installed in an environment of its own that shares only the dependencies."""
    home = tmp_path_factory.mktemp(request.param)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)}))
    # A folder listed here is searched, but the .pth files in it are not read: gpugate itself is not found through it.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    what = [str(request.getfixturevalue("wheel"))] if request.param == "wheel" else ["--editable", str(ROOT)]
    pip = [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python"), "install", "--quiet", "--no-deps"]
    # Its own copy, though the environment that the dependencies come from has one too.
    subprocess.run(
        [*pip, "--no-index", "--no-build-isolation", "--ignore-installed", *what], check=True, capture_output=True
    )
    return home / "bin" / "gpugate"


def run(command: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(command), *arguments], cwd=cwd, capture_output=True, text=True, check=False, timeout=60)


def test_it_works_in_a_folder_with_an_app_of_its_own(gpugate: Path, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("raise SystemExit('the wrong app')\n")
    (tmp_path / "policies").mkdir()
    (tmp_path / "pod.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
        "spec:\n  containers:\n    - name: c\n      resources: {limits: {nvidia.com/gpu: 1}}\n"
    )
    version = run(gpugate, "--version", cwd=tmp_path)
    assert version.returncode == 0, version.stderr
    assert version.stdout.startswith("gpugate, version ")
    checked = run(gpugate, "check", "--policy", "shipped", "pod.yaml", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert 'runtimeClassName set to "nvidia"' in checked.stdout
    explained = run(gpugate, "explain", "rule", "no-privileged", cwd=tmp_path)
    assert explained.returncode == 0, explained.stderr
    (tmp_path / "scan.json").write_text(
        '{"version":1,"takenAt":"2026-12-02T04:10:00Z","cluster":{"context":"c","server":"https://c.example.com"},'
        '"policies":[],"namespaces":[],"errors":[]}'
    )
    board = run(gpugate, "board", "--snapshot", "scan.json", "--export", "board", cwd=tmp_path)
    assert board.returncode == 0, board.stderr
    assert {path.name for path in (tmp_path / "board").iterdir()} == {"board.css", "board.js", "index.html"}
    schema = run(gpugate, "schema", cwd=tmp_path)
    assert schema.returncode == 0, schema.stderr


def test_kubectl_finds_it_as_a_plugin(gpugate: Path, tmp_path: Path) -> None:
    plugin = gpugate.with_name("kubectl-gpugate")
    shown = run(plugin, "--help", cwd=tmp_path)
    assert shown.stdout.startswith("Usage: kubectl gpugate ")
