"""Builds the control plane's programs once, into a cache outside the tree.

Run as a script it prints the directory that holds them as the last line of stdout, progress on stderr. It
needs nothing but the standard library and, unless everything is cached, Go: so CI can warm the cache first.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

KUBERNETES_VERSION = "v1.37.2"
ETCD_VERSION = "v3.7.3"

# Programs by the Go module that pins them: program name -> package.
MODULES: dict[str, dict[str, str]] = {
    "etcd": {"etcd": "go.etcd.io/etcd/server/v3"},
    "kubernetes": {
        name: f"k8s.io/kubernetes/cmd/{name}"
        for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
    },
}
PROGRAMS = tuple(name for programs in MODULES.values() for name in programs)

# Without these the programs call themselves v0.0.0-master, which no client takes for a real server.
_MAJOR, _MINOR = KUBERNETES_VERSION.removeprefix("v").split(".")[:2]
_VARIABLES = {"gitVersion": KUBERNETES_VERSION, "gitMajor": _MAJOR, "gitMinor": _MINOR}
_LDFLAGS = " ".join(
    ["-s", "-w"]
    + [
        f"-X {package}.{variable}={value}"
        for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
        for variable, value in _VARIABLES.items()
    ]
)
_FLAGS = ("-mod=readonly", "-buildvcs=false", "-trimpath", "-ldflags", _LDFLAGS)
_HERE = Path(__file__).resolve().parent


class BuildError(Exception):
    """The programs are not there and cannot be built here."""


def programs_directory() -> Path:
    """The directory with every program, building what is missing.

    Programs in KUBEBUILDER_ASSETS (the convention of envtest) are taken from there; envtest ships neither
    scheduler nor controller-manager, so those are built all the same and linked beside them.
    """
    built = _cache_root() / _key()
    assets = _assets()
    missing = [name for name in PROGRAMS if name not in assets and not (built / name).exists()]
    if missing:
        with _locked(built.parent / f"{built.name}.lock"):
            # Whoever held the lock before may have built them.
            _build([name for name in missing if not (built / name).exists()], built)
    return _linked(built, assets) if assets else built


def _assets() -> dict[str, Path]:
    directory = os.environ.get("KUBEBUILDER_ASSETS", "")
    if not directory:
        return {}
    found = {name: Path(directory, name).resolve() for name in PROGRAMS if Path(directory, name).exists()}
    if not found:
        raise BuildError(f"KUBEBUILDER_ASSETS={directory} holds none of {', '.join(PROGRAMS)}")
    return found


def _cache_root() -> Path:
    environment = os.environ
    if environment.get("GPUGATE_CACHE"):
        return Path(environment["GPUGATE_CACHE"], "controlplane").resolve()
    base = environment.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "gpugate", "controlplane").resolve()


def _key() -> str:
    digest = hashlib.sha256("\0".join(_FLAGS).encode())
    for module in MODULES:
        for name in ("go.mod", "go.sum"):
            digest.update((_HERE / module / name).read_bytes())
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    versions = f"kubernetes-{KUBERNETES_VERSION}-etcd-{ETCD_VERSION}"
    return f"{versions}-{sys.platform}-{machine}-{digest.hexdigest()[:12]}"


def _build(names: list[str], destination: Path) -> None:
    """Builds into a temporary directory and moves each program in place: none is ever seen half written."""
    if not names:
        return
    if shutil.which("go") is None:
        raise BuildError(f"building {', '.join(names)} needs Go, and there is none on PATH")
    destination.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=destination.parent) as temporary:
        for module, programs in MODULES.items():
            packages = {name: package for name, package in programs.items() if name in names}
            if packages:
                _go_build(module, packages, Path(temporary))
        for name in names:
            Path(temporary, name).replace(destination / name)


def _go_build(module: str, packages: dict[str, str], output: Path) -> None:
    _say(f"building {', '.join(packages)} (about ten minutes for all on two cores, then cached)")
    began = time.monotonic()
    # A single package is named by the output; several are named by their own last element.
    target = str(output / next(iter(packages))) if len(packages) == 1 else f"{output}{os.sep}"
    result = subprocess.run(
        ["go", "build", *_FLAGS, "-o", target, *packages.values()],
        cwd=_HERE / module,
        # No workspace above the module may change its versions, and no C compiler is needed.
        env={**os.environ, "GOWORK": "off", "CGO_ENABLED": "0"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        raise BuildError(f"go build of {', '.join(packages)} failed:\n{result.stderr[-4000:]}")
    _say(f"built {', '.join(packages)} in {time.monotonic() - began:.0f} s")


def _linked(built: Path, assets: dict[str, Path]) -> Path:
    """A directory of links to the given programs and, for the rest, to the built ones."""
    sources = {name: assets.get(name, built / name) for name in PROGRAMS}
    digest = hashlib.sha256("\0".join(map(str, sources.values())).encode()).hexdigest()[:12]
    directory = built.parent / f"linked-{digest}"
    directory.mkdir(parents=True, exist_ok=True)
    for name, source in sources.items():
        with contextlib.suppress(FileExistsError):
            (directory / name).symlink_to(source)
    return directory


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("another process is building the control plane: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _say(message: str) -> None:
    print(f"controlplane: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        print(programs_directory())
    except BuildError as error:
        sys.exit(f"controlplane: {error}")
